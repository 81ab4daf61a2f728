import Entities
public import UseCases

/// Turns what `ReadFeed` answers into what a view shows.
public struct FeedPresenter: Sendable {
    /// Makes a presenter.
    public init() {}

    /// What to show of a page of the feed.
    public func present(_ page: FeedPage) -> FeedViewModel {
        let notes: [String] =
            switch page.usersRead {
            case .success(let reading): reading.rejected.notes
            case .failure(let error): ["The authors could not be had: \(error)"]
            }
        return FeedViewModel(
            rows: page.entries.map(FeedViewModel.Row.init),
            total: page.total,
            next: page.next?.description,
            postsRead: page.postsRead.value,
            origin: page.postsRead.origin.description,
            notes: page.postsRead.rejected.notes + notes
        )
    }

    /// What to show of a failure to read the feed.
    public func present(_ error: ReadFeedError) -> FailureViewModel {
        let summary = "The feed could not be read"
        return switch error {
        case .cancelled: FailureViewModel("Reading the feed was cancelled")
        case .pageSizeOutOfRange(let size): pageSizeFailure(size)
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .unreadable(let cause): .unreadable(summary, cause)
        }
    }

    private func pageSizeFailure(_ size: Int) -> FailureViewModel {
        let sizes = FeedQuery.pageSizes
        return FailureViewModel(
            "A page of the feed cannot have \(size) entries",
            advice: "Ask for \(sizes.lowerBound) to \(sizes.upperBound)."
        )
    }
}

extension FeedViewModel.Row {
    fileprivate init(_ entry: FeedEntry) {
        let author =
            switch entry.author {
            case .known(let user): user.name
            case .unknown(let id): "unknown user \(id)"
            case .unavailable(let id): "user \(id)"
            }
        self.init(id: entry.post.id.rawValue, author: author, title: entry.post.title, body: entry.post.body)
    }
}
