import Foundation
import Hummingbird
import InwardAsyncHTTPClient
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import Logging
import ServiceLifecycle
import Testing

@testable import FeedService

/// How a real server ends.
@Suite(.timeLimit(.minutes(5)))
struct ShutdownTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func requestInFlightIsAnsweredAndNothingIsAcceptedAfterwards() async throws {
        let (begun, release, port) = (Promise<Void>(), Promise<Void>(), Promise<Int>())
        let upstream = StubDataFetcher { _ throws(FetchError) in
            begun.fulfill(())
            _ = await release.value()
            return DataResponse(headerFields: [HeaderField(.contentType, "application/json")], body: Data("[]".utf8))
        }
        var settings = ServiceSettings()
        settings.port = 0
        let app = try await FeedApp(settings, dataFetcher: upstream)
        let server = FeedServer(app, settings)
        let application = server.application(logger: logger) { port.fulfill($0) }
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        let client = AsyncHTTPClientDataFetcher()
        async let running: Void = server.run(group, logger: logger)
        let listening = await port.value().fulfilled
        let url = URL(string: "http://127.0.0.1:\(try #require(listening))/api/users")
        let request = DataRequest(url: try #require(url))
        async let response = client.fetch(request)
        _ = await begun.value()
        await group.triggerGracefulShutdown()
        release.fulfill(())
        #expect(try await response.status == .ok)
        try await running
        #expect(!app.isReady && !app.scope.isOpen)
        let error = await #expect(throws: FetchError.self) { try await client.fetch(request) }
        #expect(error?.reason == .unreachable)
        try await client.close()
    }
}

extension Promise.Outcome {
    /// The value; `nil` if the wait ended first.
    fileprivate var fulfilled: Value? { if case .fulfilled(let value) = self { value } else { nil } }
}
