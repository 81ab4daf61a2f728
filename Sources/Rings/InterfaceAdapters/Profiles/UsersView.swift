/// Where users are shown, and what each of them has written: an output port, told what to show.
///
/// Whoever wires a view refers to it weakly, so a view may own what it is wired to.
public protocol UsersView: AnyObject, Sendable {
    /// Shows all users.
    func show(_ users: UserListViewModel) async

    /// Shows one user.
    func show(_ profile: UserProfileViewModel) async

    /// Shows a page of posts.
    func show(_ posts: FeedViewModel) async

    /// Shows why there is nothing to show.
    func show(_ failure: FailureViewModel) async
}
