public import InterfaceAdapters
import Synchronization

/// A view of users that remembers what it was told to show.
public final class RecordingUsersView: UsersView {
    /// Something that was shown.
    public enum Showing: Hashable, Sendable {
        /// All users.
        case users(UserListViewModel)
        /// One user.
        case profile(UserProfileViewModel)
        /// A page of posts.
        case posts(FeedViewModel)
        /// Why there was nothing to show.
        case failure(FailureViewModel)
    }

    private let shown = Mutex<[Showing]>([])

    /// Makes a view that shows nothing yet.
    public init() {}

    /// What it was told to show so far, in the order it was told.
    public var showings: [Showing] { shown.withLock(\.self) }

    /// Remembers the users.
    public func show(_ users: UserListViewModel) { remember(.users(users)) }

    /// Remembers the user.
    public func show(_ profile: UserProfileViewModel) { remember(.profile(profile)) }

    /// Remembers the posts.
    public func show(_ posts: FeedViewModel) { remember(.posts(posts)) }

    /// Remembers the failure.
    public func show(_ failure: FailureViewModel) { remember(.failure(failure)) }

    private func remember(_ showing: Showing) {
        shown.withLock { $0.append(showing) }
    }
}
