import Foundation
import InwardFetching
import InwardTesting
import Testing

struct ScriptedDataFetcherTests {
    private func request() throws -> DataRequest {
        DataRequest(url: try #require(URL(string: "http://upstream.test/")))
    }

    @Test func scriptIsFollowedToItsEnd() async throws {
        let fetcher = ScriptedDataFetcher([.answer(DataResponse(status: 201)), .failure(.timedOut)])
        #expect(fetcher.remainingSteps == 2)
        #expect(try await fetcher.fetch(request()).status == 201)
        let failure = await #expect(throws: FetchError.self) { try await fetcher.fetch(request()) }
        #expect(failure?.reason == .timedOut)
        #expect(fetcher.remainingSteps == 0)
        let beyond = await #expect(throws: FetchError.self) { try await fetcher.fetch(request()) }
        #expect(beyond?.reason == .invalidRequest)
    }

    @Test func requestsAreRecordedInOrder() async throws {
        let fetcher = RecordingDataFetcher(StubDataFetcher(failing: .unreachable))
        let second = DataRequest(method: .post, url: try request().url)
        _ = try? await fetcher.fetch(request())
        _ = try? await fetcher.fetch(second)
        #expect(try fetcher.requests == [request(), second])
    }
}
