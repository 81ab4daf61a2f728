public import Entities
public import UseCases

/// A place that a view can link to.
///
/// ```swift
/// let destination = Destination("users/7")  // .user(7)
/// let path = Destination.feed(after: nil).description  // "posts"
/// ```
public enum Destination: Hashable, Sendable {
    /// All users.
    case users
    /// One user.
    case user(User.ID)
    /// A page of one author's posts: the first one, or the one after a cursor.
    case posts(by: User.ID, after: FeedCursor?)
    /// A page of the feed: the first one, or the one after a cursor.
    case feed(after: FeedCursor?)
}

extension Destination: LosslessStringConvertible {
    /// The path of the destination, such as `users/7/posts/after/61`. ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .users: "users"
        case .user(let id): "users/\(id)"
        case .posts(let author, let cursor): "users/\(author)/posts\(Page(cursor).path)"
        case .feed(let cursor): "posts\(Page(cursor).path)"
        }
    }

    /// Creates a destination from its path; returns `nil` if the path is not valid.
    public init?(_ description: String) {
        var steps = description.split(separator: "/", omittingEmptySubsequences: false)[...]
        switch steps.popFirst() {
        case "posts":
            guard let page = Page(steps) else { return nil }
            self = .feed(after: page.cursor)
        case "users":
            guard let step = steps.popFirst() else {
                self = .users
                return
            }
            guard let number = Int(step), String(number) == step else { return nil }
            let id = User.ID(number)
            guard let step = steps.popFirst() else {
                self = .user(id)
                return
            }
            guard step == "posts", let page = Page(steps) else { return nil }
            self = .posts(by: id, after: page.cursor)
        default:
            return nil
        }
    }

    /// The part of a path that selects a page of a list.
    private struct Page {
        let cursor: FeedCursor?

        init(_ cursor: FeedCursor?) {
            self.cursor = cursor
        }

        init?(_ steps: ArraySlice<Substring>) {
            if steps.isEmpty {
                cursor = nil
            } else {
                guard steps.count == 2, steps.first == "after",
                    let cursor = steps.last.flatMap({ FeedCursor(String($0)) })
                else { return nil }
                self.cursor = cursor
            }
        }

        var path: String { cursor.map { "/after/\($0)" } ?? "" }
    }
}
