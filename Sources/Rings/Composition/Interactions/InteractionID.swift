/// What tells an interaction from others: the identifier that came with a request, or else a number.
public struct InteractionID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let description: String

    /// Takes over the identifier of a request.
    public init(_ description: String) {
        self.description = description
    }
}
