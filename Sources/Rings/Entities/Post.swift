/// A published post.
///
/// ```swift
/// let post = try Post(id: Post.ID(12), authorID: User.ID(7), title: "Notes", body: "On the engine.")
/// ```
public struct Post: Hashable, Identifiable, Sendable {
    /// The identity of the post. Later posts have greater identities.
    public let id: ID
    /// The identity of the author.
    public let authorID: User.ID
    /// The title, without leading or trailing whitespace. Never empty.
    public let title: String
    /// The body, without leading or trailing whitespace. Never empty.
    public let body: String

    /// Creates a post that was published elsewhere, with title and body trimmed of surrounding whitespace.
    ///
    /// The length limits of ``PostDraft`` do not apply: other systems may have accepted longer or shorter posts.
    ///
    /// - Throws: ``PostError/blankTitle`` or ``PostError/blankBody`` if the title or the body is empty or only whitespace.
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

    /// The title in lower case, for comparing titles without regard to case.
    public var foldedTitle: String { title.lowercased() }

    /// Creates a post from a draft. This cannot fail: every valid draft is a valid post.
    init(id: ID, draft: PostDraft) {
        self.id = id
        authorID = draft.authorID
        title = draft.title
        body = draft.body
    }
}

extension Post {
    /// The identity of a post, assigned by the system that stores it. Later posts have greater identities.
    public struct ID: Hashable, Comparable, Sendable, LosslessStringConvertible {
        /// The numeric value. Any number is valid.
        public let rawValue: Int

        /// Creates an identity from a number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Creates an identity from its description; `nil` if the text is not a decimal integer.
        public init?(_ description: String) {
            guard let rawValue = Int(description) else { return nil }
            self.rawValue = rawValue
        }

        /// Compares identities by number, which orders posts by publication.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number as a decimal integer.
        public var description: String { String(rawValue) }
    }
}

/// A violated rule of ``Post``.
///
/// ```swift
/// do {
///     _ = try Post(id: Post.ID(12), authorID: User.ID(7), title: " ", body: "On the engine.")
/// } catch {
///     print(error)  // A post's title must not be blank.
/// }
/// ```
public enum PostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The title is empty or only whitespace.
    case blankTitle
    /// The body is empty or only whitespace.
    case blankBody

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .blankTitle: "A post's title must not be blank."
        case .blankBody: "A post's body must not be blank."
        }
    }
}
