import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing
import UseCases

struct RepositoryErrorTests {
    private func readError(_ dataFetcher: StubDataFetcher) async throws -> RepositoryError? {
        let repository = UpstreamUserRepository(upstream: try .example(dataFetcher))
        return await #expect(throws: RepositoryError.self) { try await repository.users(.cacheFirst) }
    }

    private func writeError(_ dataFetcher: StubDataFetcher) async throws -> RepositoryError? {
        let repository = UpstreamPostRepository(upstream: try .example(dataFetcher))
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "x")
        return await #expect(throws: RepositoryError.self) { try await repository.publish(draft) }
    }

    @Test func unsentWriteIsUnavailableInsteadOfUnknown() async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.timedOut, request: request, explanation: "was not sent", wasSent: false)
        }
        #expect(try await writeError(source)?.reason == .unavailable)
    }

    @Test(arguments: [
        (FetchError.Reason.cancelled, RepositoryError.Reason.cancelled, RepositoryError.Reason.cancelled),
        (.closed, .closed, .closed), (.rejected, .unavailable, .unavailable), (.invalidRequest, .refused, .refused),
        (.unreachable, .unavailable, .unavailable),
        (.untrusted, .unavailable, .unavailable), (.timedOut, .unavailable, .outcomeUnknown),
        (.interrupted, .unavailable, .outcomeUnknown), (.tooLarge, .unreadable, .outcomeUnknown),
        (.tooManyRedirects, .unavailable, .outcomeUnknown), (.unreadable, .unreadable, .unreadable),
        (.addressRefused, .unavailable, .unavailable),
    ])
    func everyFetchErrorIsTranslated(
        reason: FetchError.Reason,
        ofRead: RepositoryError.Reason,
        ofWrite: RepositoryError.Reason
    ) async throws {
        let failing = StubDataFetcher(failing: reason, explanation: "failed so")
        #expect(try await readError(failing)?.reason == ofRead)
        #expect(try await readError(failing)?.description == "GET http://upstream.test/api/users failed so")
        #expect(try await writeError(failing)?.reason == ofWrite)
        #expect(try await writeError(failing)?.description == "POST http://upstream.test/api/posts failed so")
    }

    @Test(arguments: [
        (301, RepositoryError.Reason.unavailable, RepositoryError.Reason.outcomeUnknown),
        (303, .unavailable, .outcomeUnknown), (307, .unavailable, .unavailable), (308, .unavailable, .unavailable),
        (400, .refused, .refused),
        (401, .denied, .denied), (403, .denied, .denied), (404, .notFound, .notFound),
        (408, .unavailable, .unavailable), (412, .conflict, .conflict),
        (409, .conflict, .conflict), (410, .notFound, .notFound), (422, .refused, .refused),
        (429, .unavailable, .unavailable), (500, .unavailable, .outcomeUnknown), (501, .unavailable, .unavailable),
        (502, .unavailable, .outcomeUnknown), (503, .unavailable, .outcomeUnknown),
        (504, .unavailable, .outcomeUnknown),
    ])
    func everyErrorStatusIsTranslated(
        code: Int,
        ofRead: RepositoryError.Reason,
        ofWrite: RepositoryError.Reason
    ) async throws {
        let answering = StubDataFetcher(DataResponse(status: .init(code)))
        #expect(try await readError(answering)?.reason == ofRead)
        #expect(try await writeError(answering)?.reason == ofWrite)
    }

    @Test func retryAfterOfTheUpstreamIsPassedOn() async throws {
        let busy = DataResponse(status: 503, headerFields: [HeaderField(.retryAfter, "7")])
        let error = try await readError(StubDataFetcher(busy))
        #expect(error?.canRetry == true)
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test func writeOfUnknownOutcomeCannotBeRetried() async throws {
        #expect(try await readError(StubDataFetcher(failing: .timedOut))?.canRetry == true)
        #expect(try await writeError(StubDataFetcher(failing: .timedOut))?.canRetry == false)
    }

    @Test func closedRepositoryCannotBeRetried() async throws {
        let closed = StubDataFetcher(failing: .closed, explanation: "was not sent, because the session is closed")
        #expect(try await readError(closed)?.canRetry == false)
        let users = UpstreamUserRepository(upstream: try .example(closed))
        let posts = UpstreamPostRepository(upstream: try .example(closed))
        let listing = await #expect(throws: ListUsersError.self) { try await ListUsers(users: users)(.cacheFirst) }
        #expect(listing.map { UserListPresenter().present($0).advice } == Self.advice)
        let reading = await #expect(throws: ReadFeedError.self) {
            try await ReadFeed(posts: posts, users: users)(FeedQuery(), .cacheFirst)
        }
        #expect(reading.map { FeedPresenter().present($0).advice } == Self.advice)
    }

    private static let advice = "Start the program again, or sign in again."
}
