/// What is to be seen of a list of posts.
public enum PostListState: Equatable, Sendable {
    /// Nobody has asked for posts yet.
    case idle
    /// Posts are being asked for; meanwhile the last ones that came are to be seen, if any did.
    case loading(lastGood: FeedViewModel?)
    /// The posts, with where they came from.
    case loaded(FeedViewModel)
    /// The posts could not be had; the last ones that came are still to be seen, if any did.
    case failed(FailureViewModel, lastGood: FeedViewModel?)

    /// The posts to be seen: those that came last.
    public var posts: FeedViewModel? {
        switch self {
        case .idle: nil
        case .loaded(let posts): posts
        case .loading(let posts), .failed(_, let posts): posts
        }
    }

    /// The posts with what is happening to them, in one document.
    public var document: Document {
        let remark =
            switch self {
            case .idle: "No posts have been asked for."
            case .loading: "Asking for posts …"
            case .loaded(let posts): "Read \(posts.postsRead) posts (from \(posts.origin))."
            case .failed(let failure, nil): failure.line
            case .failed(let failure, _?): "\(failure.line) Above is what came last."
            }
        let list = posts?.document
        return Document(
            title: list?.title ?? "Feed",
            blocks: (list?.blocks ?? []) + [.paragraph(remark)]
        )
    }
}
