/// How encoded bytes are made a picture.
public struct ImageDecodingOptions: Hashable, Sendable {
    /// What the sides of the picture are divided by, one of the reductions that its header names; taken for 1 if it is not.
    public var reduction: Int
    /// Whether bytes that are cut short give what there is of the picture; the rest is then grey, or clear if it can be.
    public var allowsTruncation: Bool

    /// Decodes a picture as large as it is, and only if it is whole, unless something else is said.
    public init(reduction: Int = 1, allowsTruncation: Bool = false) {
        self.reduction = reduction
        self.allowsTruncation = allowsTruncation
    }
}
