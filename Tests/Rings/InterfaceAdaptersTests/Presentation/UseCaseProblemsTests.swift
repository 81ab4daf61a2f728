import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import Testing
import UseCases

/// The responses with which a server reports the errors of use cases.
struct UseCaseProblemsTests {
    private static let busy = RepositoryError(
        .unavailable,
        request: "GET http://secret.test/users",
        explanation: "failed",
        retryAfter: .seconds(7)
    )
    private static let denied = RepositoryError(.denied, request: "GET http://secret.test/users", explanation: "failed")
    private static let unreadable = RepositoryError(
        .unreadable,
        request: "GET http://secret.test",
        explanation: "failed"
    )

    private static let missing = RepositoryError(.notFound, request: "GET http://secret.test", explanation: "failed")
    private static let refused = RepositoryError(.refused, request: "GET http://secret.test", explanation: "failed")
    private static let lost = RepositoryError(.outcomeUnknown, request: "GET http://secret.test", explanation: "failed")

    private static let cases: [(any ProblemDetailsConvertible, DataResponse.Status)] = [
        (ListUsersError.cancelled, 503),
        (ListUsersError.unavailable(busy), 503),
        (ListUsersError.denied(denied), 403),
        (ListUsersError.unreadable(unreadable), 502),
        (ListUsersError.unavailable(missing), 502),
        (ShowUserError.cancelled, 503),
        (ShowUserError.notFound(User.ID(99)), 404),
        (ShowUserError.unavailable(busy), 503),
        (ShowUserError.denied(denied), 403),
        (ShowUserError.unreadable(unreadable), 502),
        (ShowUserError.unavailable(refused), 502),
        (ShowPostError.cancelled, 503),
        (ShowPostError.notFound(Post.ID(99)), 404),
        (ShowPostError.unavailable(busy), 503),
        (ShowPostError.denied(denied), 403),
        (ShowPostError.unreadable(unreadable), 502),
        (ShowPostError.unavailable(refused), 502),
        (ReadFeedError.cancelled, 503),
        (ReadFeedError.unavailable(missing), 502),
        (ReadFeedError.pageSizeOutOfRange(0), 400),
        (ReadFeedError.unavailable(busy), 503),
        (ReadFeedError.denied(denied), 403),
        (ReadFeedError.unreadable(unreadable), 502),
        (PublishPostError.cancelled, 504),
        (PublishPostError.invalidDraft(.titleLength(201)), 422),
        (PublishPostError.unknownAuthor(User.ID(99)), 422),
        (PublishPostError.titleTaken("Notes"), 409),
        (PublishPostError.unavailable(busy), 503),
        (PublishPostError.denied(denied), 403),
        (PublishPostError.refused(refused), 422),
        (PublishPostError.unreadable(unreadable), 502),
        (PublishPostError.outcomeUnknown(lost), 504),
        (ChangePostError.cancelled, 504),
        (ChangePostError.notFound(Post.ID(99)), 404),
        (ChangePostError.changedElsewhere(nil), 412),
        (ChangePostError.invalidDraft(.bodyLength(0)), 422),
        (ChangePostError.titleTaken("Notes"), 409),
        (ChangePostError.unavailable(busy), 503),
        (ChangePostError.denied(denied), 403),
        (ChangePostError.refused(refused), 422),
        (ChangePostError.unreadable(unreadable), 502),
        (ChangePostError.outcomeUnknown(lost), 504),
    ]

    @Test(arguments: cases)
    func errorHasAStatusAndNoNameOfTheUpstream(error: any ProblemDetailsConvertible, status: DataResponse.Status) {
        #expect(ProblemDetails(error) == error.problemDetails)
        #expect(error.problemDetails.status == status)
        #expect(!"\(error.problemDetails)".contains("secret"))
    }

    @Test func problemSaysWhatToChange() {
        #expect(ShowUserError.notFound(User.ID(99)).problemDetails.detail == "There is no user 99.")
        #expect(
            ReadFeedError.pageSizeOutOfRange(101).problemDetails.detail == "A page has from 1 to 100 posts, not 101."
        )
        #expect(PublishPostError.titleTaken("Notes").problemDetails.detail.contains("“Notes”"))
        #expect(ChangePostError.titleTaken("Notes").problemDetails.detail.contains("“Notes”"))
        #expect(ChangePostError.notFound(Post.ID(99)).problemDetails.detail == "There is no post 99.")
        #expect(PublishPostError.unknownAuthor(User.ID(99)).problemDetails.detail.contains("user 99"))
    }

    @Test func waitBeforeARetryIsKept() {
        #expect(ListUsersError.unavailable(Self.busy).problemDetails.retryAfter == .seconds(7))
        #expect(ShowUserError.unavailable(Self.busy).problemDetails.retryAfter == .seconds(7))
        #expect(ReadFeedError.unavailable(Self.busy).problemDetails.retryAfter == .seconds(7))
        #expect(PublishPostError.unavailable(Self.busy).problemDetails.retryAfter == .seconds(7))
        #expect(ChangePostError.unavailable(Self.busy).problemDetails.retryAfter == .seconds(7))
    }
}
