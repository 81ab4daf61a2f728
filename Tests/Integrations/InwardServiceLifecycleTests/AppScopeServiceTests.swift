#if ServiceLifecycle
import Foundation
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardServiceLifecycle
import InwardTesting
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AppScopeServiceTests {
    /// Records reports.
    private final class Reports: Sendable {
        private let kept = Mutex<[ShutdownReport]>([])

        var all: [ShutdownReport] { kept.withLock(\.self) }

        func add(_ report: ShutdownReport) { kept.withLock { $0.append(report) } }
    }

    private let reports = Reports()

    private func app() async throws -> AppScope<Void> {
        let url = try #require(URL(string: "https://upstream.test"))
        let upstream = Upstream(baseURL: url, dataFetcher: StubDataFetcher(DataResponse(status: .ok)))
        return await AppScope("notes", AppScopeConfiguration(upstream))
    }

    @Test func groupShutsTheAppDownGracefully() async throws {
        let (app, reports) = (try await app(), reports)
        let session = try await app.signIn(as: "ada")
        let service = AppScopeService(app) { reports.add($0) }
        #expect(service.isReady)
        await testGracefulShutdown { trigger in
            async let running: Void = service.run()
            trigger.triggerGracefulShutdown()
            await running
        }
        #expect(!service.isReady)
        #expect(!session.isOpen)
        #expect(!app.isOpen)
        #expect(reports.all.map(\.isComplete) == [true])
    }

    @Test func cancellingTheServiceClosesTheApp() async throws {
        let (app, reports) = (try await app(), reports)
        let service = AppScopeService(app) { reports.add($0) }
        let running = Task { await service.run() }
        running.cancel()
        await running.value
        #expect(!app.isOpen)
        #expect(reports.all.count == 1)
    }

    @Test func groupShutsTheAppDownAfterTheServer() async throws {
        let (app, reports) = (try await app(), reports)
        let server = Server(app: app)
        let services: [any Service] = [AppScopeService(app) { reports.add($0) }, server]
        let group = ServiceGroup(services: services, logger: Logger(label: "test"))
        async let running: Void = group.run()
        for await _ in server.running { break }
        await group.triggerGracefulShutdown()
        try await running
        #expect(reports.all.map(\.isComplete) == [true])
        #expect(!app.isOpen)
    }
}

/// A service that uses an app until the group shuts down.
private struct Server: Service {
    let app: AppScope<Void>
    let running: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init(app: AppScope<Void>) {
        self.app = app
        (running, report) = AsyncStream.makeStream()
    }

    func run() async throws {
        report.yield()
        try await gracefulShutdown()
        #expect(app.isAcceptingWork)
    }
}
#endif
