/// Something a user has published.
public struct Post: Hashable, Identifiable, Sendable {
    /// Which post this is. A later post has a greater identity.
    public let id: ID
    /// Who wrote it.
    public let authorID: User.ID
    /// What it is called, without white space at its ends. Never empty.
    public let title: String
    /// What it says, without white space at its ends. Never empty.
    public let body: String

    /// Makes a post that was published elsewhere, or says which rule it breaks.
    ///
    /// The lengths a ``PostDraft`` must keep are not asked of it: they bind what is written here, not what others let
    /// through before.
    ///
    /// - Throws: ``PostError/blankTitle`` or ``PostError/blankBody`` if one of them is empty or only white space.
    public init(id: ID, authorID: User.ID, title: String, body: String) throws(PostError) {
        let title = title.trimmingWhitespace()
        let body = body.trimmingWhitespace()
        guard !title.isEmpty else { throw .blankTitle }
        guard !body.isEmpty else { throw .blankBody }
        self.id = id
        self.authorID = authorID
        self.title = title
        self.body = body
    }

    /// The title as titles are compared: two that differ in case alone are the same to a reader.
    public var foldedTitle: String { title.lowercased() }

    /// Makes the post that a draft becomes. A draft's rules are stricter than a post's, so this cannot fail.
    init(id: ID, draft: PostDraft) {
        self.id = id
        authorID = draft.authorID
        title = draft.title
        body = draft.body
    }
}

extension Post {
    /// The identity of a post, given by whoever keeps the posts, and greater for a later post.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The number itself. Any number can be an identity.
        public let rawValue: Int

        /// Makes the identity with this number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Orders identities by their number, and so posts by when they were published.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number in decimal digits.
        public var description: String { String(rawValue) }
    }
}

/// The rule of a ``Post`` that was broken.
public enum PostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The title is empty or only white space.
    case blankTitle
    /// The body is empty or only white space.
    case blankBody

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .blankTitle: "A post's title must not be blank."
        case .blankBody: "A post's body must not be blank."
        }
    }
}
