/// A post that is not published yet. A draft that exists may be published: it keeps every rule.
public struct PostDraft: Hashable, Sendable {
    /// How many characters a title may have, once trimmed.
    public static let titleLengths = 1...120
    /// How many characters a body may have, once trimmed.
    public static let bodyLengths = 1...5_000
    /// How many bytes a title may have in UTF-8, once trimmed. A single character can have any number of them.
    public static let maximumTitleBytes = 4_096
    /// How many bytes a body may have in UTF-8, once trimmed.
    public static let maximumBodyBytes = 65_536

    /// Who writes it.
    public let authorID: User.ID
    /// What it is called, without white space at its ends.
    public let title: String
    /// What it says, without white space at its ends.
    public let body: String

    /// Makes a draft from what its author wrote, without the white space at the ends, or says which rule it breaks.
    ///
    /// A character is what a reader takes for one (an extended grapheme cluster of Unicode).
    ///
    /// - Complexity: O(n) in the lengths of title and body.
    /// - Throws: a ``PostDraftError`` with the length that is outside ``titleLengths`` or ``bodyLengths``, or the number of bytes
    ///   that is above ``maximumTitleBytes`` or ``maximumBodyBytes``. Where both title and body are wrong, the title's is thrown.
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

    /// The post this draft becomes when it is published under an identity.
    public func published(as id: Post.ID) -> Post {
        Post(id: id, draft: self)
    }

    /// The title as titles are compared: two that differ in case alone are the same to a reader.
    public var foldedTitle: String { title.lowercased() }
}

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
