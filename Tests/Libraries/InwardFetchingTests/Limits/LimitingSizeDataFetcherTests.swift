import InwardFetching
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct LimitingSizeDataFetcherTests {
    private func source(_ count: Int, status: DataResponse.Status = .ok) -> StubDataFetcher {
        StubDataFetcher(DataResponse(status: status, body: Data(repeating: 0, count: count)))
    }

    @Test(arguments: [(0, 0), (0, 1), (7, 8), (8, 8), (8, .max), (0, -1), (0, .min)])
    func bodiesWithinTheLimitAreReturned(count: Int, limit: Int) async throws {
        #expect(try await source(count).limitingSize(to: limit).fetch(.example()).body.count == count)
    }

    @Test(arguments: [(1, 0), (9, 8), (1, -1)], [DataResponse.Status.ok, 404])
    func largerBodiesAreRejected(sizes: (count: Int, limit: Int), status: DataResponse.Status) async throws {
        let fetcher = source(sizes.count, status: status).limitingSize(to: sizes.limit)
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(.example()) }
        #expect(error?.reason == .tooLarge)
        #expect(error?.explanation == "was answered with more than \(max(0, sizes.limit)) bytes, which is the limit")
    }

    @Test func layerDescriptionNamesTheSizeLimit() {
        let layer = source(0).limitingSize(to: 8).layer
        #expect(layer == DataFetcherLayer(.sizeLimit, "limits bodies to 8 bytes"))
    }
}
