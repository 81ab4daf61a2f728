/// The rule of a ``PostDraft`` that was broken.
public enum PostDraftError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The trimmed title has this many characters, which is outside ``PostDraft/titleLengths``.
    case titleLength(Int)
    /// The trimmed body has this many characters, which is outside ``PostDraft/bodyLengths``.
    case bodyLength(Int)

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .titleLength(let count): Self.sentence("title", allowed: PostDraft.titleLengths, count: count)
        case .bodyLength(let count): Self.sentence("body", allowed: PostDraft.bodyLengths, count: count)
        }
    }

    private static func sentence(_ part: String, allowed: ClosedRange<Int>, count: Int) -> String {
        "A post's \(part) has \(allowed.lowerBound) to \(allowed.upperBound) characters, and this one has \(count)."
    }
}
