/// What somebody who sees a list of posts can want of it.
public enum PostListIntent: Hashable, Sendable {
    /// The newest posts, from the nearest place that has them.
    case load
    /// As many posts as there are to be seen, as the source has them now.
    case refresh
    /// The newest posts with this text in them; `nil` for all posts.
    case filter(String?)
    /// The posts that follow on those to be seen.
    case loadMore
}
