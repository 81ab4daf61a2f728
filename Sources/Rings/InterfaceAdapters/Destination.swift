public import Entities
public import UseCases

/// Something that a view can lead to.
public enum Destination: Hashable, Sendable {
    /// All users.
    case users
    /// One user.
    case user(User.ID)
    /// What one user has written: the newest, or what follows behind a place.
    case posts(by: User.ID, after: FeedCursor?)
    /// What all have written: the newest, or what follows behind a place.
    case feed(after: FeedCursor?)
}

extension Destination: LosslessStringConvertible {
    /// The destination as a path, such as `users/7/posts/after/61`, to be read back by ``init(_:)``.
    public var description: String {
        switch self {
        case .users: "users"
        case .user(let id): "users/\(id)"
        case .posts(let author, let cursor): "users/\(author)/posts\(Page(cursor).path)"
        case .feed(let cursor): "posts\(Page(cursor).path)"
        }
    }

    /// Reads a destination from its path; `nil` if it is none.
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

    /// The end of a path that says which page of a list it leads to.
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
