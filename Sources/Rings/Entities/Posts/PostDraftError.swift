/// The rule of a ``PostDraft`` that was broken.
public enum PostDraftError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The trimmed title has this many characters, which is outside ``PostDraft/titleLengths``.
    case titleLength(Int)
    /// The trimmed body has this many characters, which is outside ``PostDraft/bodyLengths``.
    case bodyLength(Int)
    /// The trimmed title has this many bytes, which is above ``PostDraft/maximumTitleBytes``.
    case titleBytes(Int)
    /// The trimmed body has this many bytes, which is above ``PostDraft/maximumBodyBytes``.
    case bodyBytes(Int)

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .titleLength(let count): Self.sentence("title", allowed: PostDraft.titleLengths, count: count)
        case .bodyLength(let count): Self.sentence("body", allowed: PostDraft.bodyLengths, count: count)
        case .titleBytes(let count): Self.sentence("title", maximumBytes: PostDraft.maximumTitleBytes, count: count)
        case .bodyBytes(let count): Self.sentence("body", maximumBytes: PostDraft.maximumBodyBytes, count: count)
        }
    }

    private static func sentence(_ part: String, maximumBytes: Int, count: Int) -> String {
        "A post's \(part) has at most \(maximumBytes) bytes, and this one has \(count)."
    }

    private static func sentence(_ part: String, allowed: ClosedRange<Int>, count: Int) -> String {
        "A post's \(part) has \(allowed.lowerBound) to \(allowed.upperBound) characters, and this one has \(count)."
    }
}
