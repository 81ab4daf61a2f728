import Foundation
import Infrastructure
import InwardFetching
import InwardScopes
import InwardTesting
import Testing

@testable import Composition

struct AppConfigurationUpstreamTests {
    private func dataFetcher(for upstream: String?) async throws -> any DataFetcher {
        try await AppContainer(AppConfiguration(upstream: upstream)).scope.objects().dataFetcher
    }

    @Test func traitSelectsTheClientForAWebAddress() async throws {
        let fetcher = try await dataFetcher(for: "http://127.0.0.1:1")
        #if AsyncHTTPClient
        #expect(fetcher.pipeline.source == "AsyncHTTPClientDataFetcher")
        #else
        #expect(fetcher.pipeline.source == "URLSessionDataFetcher")
        #endif
    }

    @Test func sampleAndDirectoryNeedNoClient() async throws {
        #expect(try await dataFetcher(for: nil) is SampleDataFetcher)
        let directory = FileManager.default.temporaryDirectory.path()
        #expect(try await dataFetcher(for: directory) is FileDataFetcher)
    }

    #if AsyncHTTPClient
    @Test func clientIsClosedWithTheApp() async throws {
        let app = try await AppContainer(
            AppConfiguration(upstream: "http://127.0.0.1:1", policy: UpstreamPolicy(attempts: 1)),
            clock: ManualClock()
        )
        let fetcher = try app.scope.objects().dataFetcher
        let request = DataRequest(url: try #require(URL(string: "http://127.0.0.1:1")))
        let before = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(before?.reason == .unreachable)
        try await app.close()
        let behind = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(behind?.reason == .closed)
    }
    #endif
}
