import Foundation
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

struct SessionsDataFetcherTests {
    private let sessions = SessionsDataFetcher()

    private func recording(_ status: DataResponse.Status) -> RecordingDataFetcher {
        RecordingDataFetcher(StubDataFetcher(DataResponse(status: status)))
    }

    private func fetch() async throws -> DataResponse {
        try await sessions.fetch(DataRequest(method: .post, url: #require(URL(string: "https://example.org/posts"))))
    }

    @Test func newestOpenSessionSendsTheRequest() async throws {
        let (older, newer) = (recording(.ok), recording(.created))
        _ = sessions.add(older)
        let number = sessions.add(newer)
        #expect(try await fetch().status == .created)
        #expect(older.requests.isEmpty)
        sessions.remove(number)
        #expect(try await fetch().status == .ok)
        #expect(newer.requests.count == 1)
    }

    @Test func closedSessionIsSkipped() async throws {
        let older = recording(.ok)
        let number = sessions.add(older)
        _ = sessions.add(StubDataFetcher(failing: .closed))
        #expect(try await fetch().status == .ok)
        sessions.remove(number)
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .closed)
    }

    @Test func rejectedCredentialsAreReplacedByThoseOfTheNextSession() async throws {
        let (older, newer) = (recording(.created), recording(.unauthorized))
        let number = sessions.add(older)
        _ = sessions.add(newer)
        let response = try await fetch()
        #expect(response.status == .created)
        #expect(response.retries?.attempts == 2)
        #expect(newer.requests.count == 1)
        sessions.remove(number)
        let denied = try await fetch()
        #expect(denied.status == .unauthorized)
        #expect(denied.retries == nil)
        // A request that fails for another reason is not sent again.
        _ = sessions.add(StubDataFetcher(failing: .unreachable))
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .unreachable)
        #expect(newer.requests.count == 2)
    }

    @Test func numberOfAttemptsIsReportedOnFailure() async throws {
        _ = sessions.add(StubDataFetcher(failing: .unreachable))
        let alone = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(alone?.retries == nil)
        let denied = recording(.unauthorized)
        _ = sessions.add(denied)
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .unreachable)
        #expect(error?.retries == RetryReport(attempts: 2, ending: "each with other credentials"))
        #expect(denied.requests.count == 1)
    }

    @Test func unsentRequestIsNotCounted() async throws {
        let unsent = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.rejected, request: request, explanation: "was not sent")
        }
        _ = sessions.add(unsent)
        _ = sessions.add(recording(.unauthorized))
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .rejected)
        #expect(error?.retries == nil)
    }

    @Test func responseToTheNewestSessionIsReturnedIfAllCredentialsAreRejected() async throws {
        for text in ["older", "newer"] {
            _ = sessions.add(StubDataFetcher(DataResponse(status: .unauthorized, body: Data(text.utf8))))
        }
        // A session in between is closed.
        let number = sessions.add(recording(.ok))
        sessions.remove(number)
        let response = try await fetch()
        #expect(response.status == .unauthorized)
        #expect(response.body == Data("newer".utf8))
        #expect(response.retries == RetryReport(attempts: 2, ending: "each with other credentials"))
    }

    @Test func retriesOfASessionAreCounted() async throws {
        for status in [DataResponse.Status.created, .unauthorized] {
            var response = DataResponse(status: status)
            response.retries = RetryReport(attempts: 3, ending: "with success")
            _ = sessions.add(StubDataFetcher(response))
        }
        #expect(try await fetch().retries?.attempts == 6)
        _ = sessions.add(
            StubDataFetcher { request throws(FetchError) in
                throw FetchError(.unreachable, request: request, explanation: "was lost")
                    .reporting(RetryReport(attempts: 3, ending: "without success"))
            }
        )
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.retries?.attempts == 3)
    }
}
