import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases

struct FailureViewModelTests {
    private func cause(canRetry: Bool = false, retryAfter: Duration? = nil) -> RepositoryError {
        RepositoryError(
            .unavailable,
            request: "GET x",
            explanation: "failed",
            canRetry: canRetry,
            retryAfter: retryAfter
        )
    }

    private func line(_ error: ListUsersError) -> String { UserListPresenter().present(error).line }

    @Test func failureNamesTheRequestTheOutcomeAndTheRemedy() {
        #expect(
            line(.unavailable(cause())) == """
                The users could not be listed: GET x failed. Check the address: it may belong to another upstream.
                """
        )
        #expect(line(.unavailable(cause(canRetry: true))).hasSuffix("can be reached, or try again later."))
        #expect(line(.denied(cause())).hasSuffix("Sign in with credentials that the upstream accepts."))
        #expect(line(.unreadable(cause())).hasSuffix("what the upstream returns there."))
        #expect(line(.cancelled) == "Listing the users was cancelled.")
        #expect(!FailureViewModel("It failed").canRetry)
    }

    @Test(arguments: [
        (Duration.seconds(120), "120 s"), (.milliseconds(2_500), "2.5 s"), (.milliseconds(340), "340 ms"),
        (.microseconds(1_260), "1.3 ms"), (.seconds(9), "9 s"), (.zero, "0 ms"),
        (.seconds(Int64.max), "1000000000000000 s"),
    ])
    func requestedDelayIsPartOfTheAdvice(delay: Duration, text: String) {
        let error = ListUsersError.unavailable(cause(canRetry: true, retryAfter: delay))
        #expect(line(error).hasSuffix("Try again in \(text)."))
        #expect(UserListPresenter().present(error).canRetry)
    }

    @Test func failuresOfEveryUseCaseAreDescribed() {
        #expect(UserProfilePresenter().present(.notFound(User.ID(7))).line.hasPrefix("There is no user 7."))
        #expect(
            UserProfilePresenter().present(.unavailable(cause())).line.hasPrefix("The user could not be shown: GET x")
        )
        #expect(
            FeedPresenter().present(.unreadable(cause())).line.hasPrefix("The feed could not be read: GET x failed")
        )
        #expect(
            FeedPresenter().present(.pageSizeOutOfRange(0)).line
                == "A page of the feed cannot have 0 entries. Ask for 1 to 100."
        )
        let presenter = PublishedPostPresenter()
        #expect(presenter.present(.titleTaken("Notes")).line.hasSuffix("already has a post titled “Notes”."))
        #expect(presenter.present(.unknownAuthor(User.ID(7))).line.contains("User 7 does not exist."))
        #expect(presenter.present(.invalidDraft(.titleLength(0))).line.contains("1 to 120 characters"))
        #expect(
            presenter.present(.refused(cause())).line.contains("GET x failed. Change the post, and publish it again.")
        )
        #expect(
            presenter.present(.outcomeUnknown(cause())).line.hasPrefix("It is not known whether the post was published")
        )
    }

    @Test func closedScopeIsPresentedWithAdvice() {
        let cause = RepositoryError(
            .closed,
            request: "GET x",
            explanation: "was not sent, because the session is closed",
            canRetry: true
        )
        let advice = "GET x was not sent, because the session is closed. Start the program again, or sign in again."
        #expect(UserListPresenter().present(.unavailable(cause)).line.hasSuffix(advice))
        #expect(UserProfilePresenter().present(.unavailable(cause)).line.hasSuffix(advice))
        #expect(FeedPresenter().present(.unavailable(cause)).line.hasSuffix(advice))
        #expect(PublishedPostPresenter().present(.unavailable(cause)).line.hasSuffix(advice))
    }
}
