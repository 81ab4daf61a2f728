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

    @Test func itAsksAsTheSessionThatCameLastUntilThatIsClosed() async throws {
        let (older, newer) = (recording(.ok), recording(.created))
        _ = sessions.add(older)
        let number = sessions.add(newer)
        #expect(try await fetch().status == .created)
        #expect(older.requests.isEmpty)
        sessions.remove(number)
        #expect(try await fetch().status == .ok)
        #expect(newer.requests.count == 1)
    }

    @Test func aSessionThatIsNotOpenIsPassedOver() async throws {
        let older = recording(.ok)
        let number = sessions.add(older)
        _ = sessions.add(StubDataFetcher(failing: .closed))
        #expect(try await fetch().status == .ok)
        sessions.remove(number)
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .closed)
    }

    @Test func whereCredentialsAreNotTakenOthersAre() async throws {
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
        // What fails otherwise is not sent a second time.
        _ = sessions.add(StubDataFetcher(failing: .unreachable))
        let error = await #expect(throws: FetchError.self) { try await fetch() }
        #expect(error?.reason == .unreachable)
        #expect(newer.requests.count == 2)
    }
}
