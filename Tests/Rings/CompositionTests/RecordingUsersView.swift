public import InterfaceAdapters
import Synchronization

/// A view that records what it shows.
public final class RecordingUsersView: UsersView {
    /// What the view showed.
    public enum Showing: Hashable, Sendable {
        /// All users.
        case users(UserListViewModel)
        /// One user.
        case profile(UserProfileViewModel)
        /// A page of posts.
        case posts(FeedViewModel)
        /// A failure.
        case failure(FailureViewModel)
    }

    private let shown = Mutex<[Showing]>([])

    /// Creates a view that has shown nothing.
    public init() {}

    /// What the view has shown so far, in order.
    public var showings: [Showing] { shown.withLock(\.self) }

    /// Records the users.
    public func show(_ users: UserListViewModel) { remember(.users(users)) }

    /// Records the user.
    public func show(_ profile: UserProfileViewModel) { remember(.profile(profile)) }

    /// Records the posts.
    public func show(_ posts: FeedViewModel) { remember(.posts(posts)) }

    /// Records the failure.
    public func show(_ failure: FailureViewModel) { remember(.failure(failure)) }

    private func remember(_ showing: Showing) {
        shown.withLock { $0.append(showing) }
    }
}
