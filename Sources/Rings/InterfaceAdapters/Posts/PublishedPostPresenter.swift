public import Entities
public import InwardCore
public import UseCases

/// Turns what `PublishPost` answers into what a view shows.
public struct PublishedPostPresenter: Sendable {
    /// Makes a presenter.
    public init() {}

    /// What to show of a post that was published, or is pending.
    public func present(_ post: Reading<Post>) -> PublishedPostViewModel {
        PublishedPostViewModel(
            id: post.isPending ? nil : post.value.id.rawValue,
            pendingID: post.isPending ? post.value.id.rawValue : nil,
            authorID: post.value.authorID.rawValue,
            title: post.value.title,
            body: post.value.body
        )
    }

    /// What to show of a failure to publish.
    public func present(_ error: PublishPostError) -> FailureViewModel {
        let summary = "The post was not published"
        return switch error {
        case .cancelled: FailureViewModel("Publishing was cancelled", advice: "Look whether the post is there.")
        case .invalidDraft(let error): FailureViewModel(summary, advice: error.description)
        case .unknownAuthor(let id): FailureViewModel(summary, advice: "There is no user \(id) to publish it for.")
        case .titleTaken(let title): FailureViewModel(summary, advice: "Its author has a post “\(title)” already.")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .refused(let cause):
            FailureViewModel(summary, cause: cause, advice: "The upstream does not take this post.")
        case .unreadable(let cause): .unreadable(summary, cause)
        case .outcomeUnknown(let cause): outcomeUnknown(cause)
        }
    }

    private func outcomeUnknown(_ cause: RepositoryError) -> FailureViewModel {
        FailureViewModel(
            "It is not known whether the post was published",
            cause: cause,
            advice: "Look whether it is there before you publish it again."
        )
    }
}
