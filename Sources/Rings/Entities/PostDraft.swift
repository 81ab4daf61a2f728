/// A validated post that is not published yet.
///
/// ```swift
/// let draft = try PostDraft(authorID: User.ID(7), title: "  Notes ", body: "On the engine.")
/// print(draft.title)  // Notes
/// ```
public struct PostDraft: Hashable, Sendable {
    /// The allowed number of characters in a trimmed title.
    public static let titleLengths = 1...120
    /// The allowed number of characters in a trimmed body.
    public static let bodyLengths = 1...5_000
    /// The maximum UTF-8 length of a trimmed title, in bytes. ``titleLengths`` alone does not limit the size, because one
    /// character can consist of any number of bytes.
    public static let maximumTitleBytes = 4_096
    /// The maximum UTF-8 length of a trimmed body, in bytes.
    public static let maximumBodyBytes = 65_536

    /// The identity of the author.
    public let authorID: User.ID
    /// The title, without leading or trailing whitespace.
    public let title: String
    /// The body, without leading or trailing whitespace.
    public let body: String

    /// Creates a draft from a title and a body, both trimmed of surrounding whitespace.
    ///
    /// Characters are extended grapheme clusters, as Unicode defines them.
    ///
    /// - Complexity: O(n) in the lengths of title and body.
    /// - Throws: A ``PostDraftError`` with the length that is outside ``titleLengths`` or ``bodyLengths``, or the number of
    ///   bytes that is above ``maximumTitleBytes`` or ``maximumBodyBytes``. If both title and body are invalid, the error is
    ///   the title's.
    public init(authorID: User.ID, title: String, body: String) throws(PostDraftError) {
        let title = title.trimmingWhitespace()
        let body = body.trimmingWhitespace()
        guard Self.titleLengths.contains(title.count) else { throw .titleLength(title.count) }
        guard title.utf8.count <= Self.maximumTitleBytes else { throw .titleBytes(title.utf8.count) }
        guard Self.bodyLengths.contains(body.count) else { throw .bodyLength(body.count) }
        guard body.utf8.count <= Self.maximumBodyBytes else { throw .bodyBytes(body.utf8.count) }
        self.authorID = authorID
        self.title = title
        self.body = body
    }

    /// Returns the post that this draft becomes when it is published with the given identity.
    public func published(as id: Post.ID) -> Post {
        Post(id: id, draft: self)
    }

    /// The title in lower case, for comparing titles without regard to case.
    public var foldedTitle: String { title.lowercased() }
}

/// A violated rule of ``PostDraft``.
///
/// ```swift
/// func hint(for error: PostDraftError) -> String {
///     switch error {
///     case .titleLength(0): "Give the post a title."
///     case .bodyLength(0): "Write something."
///     default: error.description
///     }
/// }
/// ```
public enum PostDraftError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of characters in the trimmed title, which is outside ``PostDraft/titleLengths``.
    case titleLength(Int)
    /// The number of characters in the trimmed body, which is outside ``PostDraft/bodyLengths``.
    case bodyLength(Int)
    /// The number of bytes in the trimmed title, which is above ``PostDraft/maximumTitleBytes``.
    case titleBytes(Int)
    /// The number of bytes in the trimmed body, which is above ``PostDraft/maximumBodyBytes``.
    case bodyBytes(Int)

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .titleLength(let count): Self.sentence("title", allowed: PostDraft.titleLengths, count: count)
        case .bodyLength(let count): Self.sentence("body", allowed: PostDraft.bodyLengths, count: count)
        case .titleBytes(let count): Self.sentence("title", maximumBytes: PostDraft.maximumTitleBytes, count: count)
        case .bodyBytes(let count): Self.sentence("body", maximumBytes: PostDraft.maximumBodyBytes, count: count)
        }
    }

    private static func sentence(_ part: String, maximumBytes: Int, count: Int) -> String {
        "A post's \(part) can have at most \(maximumBytes) bytes, but this one has \(count)."
    }

    private static func sentence(_ part: String, allowed: ClosedRange<Int>, count: Int) -> String {
        "A post's \(part) must have \(allowed.lowerBound) to \(allowed.upperBound) characters, but this one has \(count)."
    }
}
