import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

struct RepositoryErrorTests {
    /// An outbox sends the write again after this error.
    @Test func writeRejectedBeforeSendingCanBeRetried() async throws {
        let request = try DataRequest.example()
        let source = StubDataFetcher(DataResponse()).authorizing(with: .bearer("s3cret"), for: request.url)
        let error = try #require(await source.failure(request))
        #expect(error.reason == .rejected)
        #expect(RepositoryError(error, mayHaveWritten: true).reason == .unavailable)
    }
}
