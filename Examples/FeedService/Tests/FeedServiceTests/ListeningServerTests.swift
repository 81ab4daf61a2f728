import Foundation
import Hummingbird
import InwardCore
import InwardScopes
import Logging
import NIOCore
import ServiceLifecycle
import Testing

@testable import FeedService

/// Servers that cannot listen at their address.
@Suite(.timeLimit(.minutes(5)))
struct ListeningServerTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A server that fails.
    private struct FailingServer: Service {
        let error: any Error

        func run() async throws { throw error }
    }

    @Test(
        arguments: [
            (EADDRINUSE, "The setting “operatorPort” must be another port, because 80 is in use."),
            (EADDRNOTAVAIL, "The setting “host” must be an address of this machine, and “192.0.2.1” is not."),
            (EACCES, "The setting “operatorPort” must be a port that this user may use, not 80."),
        ] as [(CInt, String)]
    )
    func settingOfTheAddressIsNamed(code: CInt, text: String) async throws {
        let base = FailingServer(error: IOError(errnoCode: code, reason: "bind"))
        let server = ListeningServer(base, host: "192.0.2.1", port: 80, setting: "operatorPort")
        let error = await #expect(throws: SettingError.self) { try await server.run() }
        #expect(error?.description == text)
    }

    @Test func otherErrorsStayAsTheyAre() async throws {
        let base = FailingServer(error: IOError(errnoCode: EMFILE, reason: "accept"))
        let server = ListeningServer(base, host: "127.0.0.1", port: 80, setting: "port")
        let error = await #expect(throws: IOError.self) { try await server.run() }
        #expect(error?.errnoCode == EMFILE)
    }

    @Test func portThatIsInUseIsNamed() async throws {
        let port = Promise<Int>()
        var settings = ServiceSettings()
        settings.port = 0
        let app = try await FeedApp(settings)
        let server = FeedServer(app, settings)
        let application = server.application(logger: logger) { port.fulfill($0) }
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        async let running: Void = server.run(group, logger: logger)
        guard case .fulfilled(let used) = await port.value() else {
            Issue.record("The first server does not listen.")
            return
        }
        settings.port = used
        let other = try await FeedApp(settings)
        let second = ListeningServer(
            FeedServer(other, settings).application(logger: logger),
            host: settings.host,
            port: used,
            setting: "port"
        )
        let error = await #expect(throws: SettingError.self) { try await second.run() }
        #expect(error?.setting == "port")
        await group.triggerGracefulShutdown()
        try await running
        try await other.scope.close()
    }
}
