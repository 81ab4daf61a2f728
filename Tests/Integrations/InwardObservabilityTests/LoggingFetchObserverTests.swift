#if Observability
import Foundation
import InMemoryLogging
import InwardCore
import InwardFetching
import InwardObservability
import InwardTesting
import Logging
import Testing

struct LoggingFetchObserverTests {
    private let handler = InMemoryLogHandler()

    private var observer: LoggingFetchObserver {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        return LoggingFetchObserver(logger: logger)
    }

    @Test func attemptIsLoggedWithConventionalNames() throws {
        let request = try TelemetryFixture.request(attempt: 3)
        observer.attemptEnded(request, .success(DataResponse(status: 503)), after: .milliseconds(250))
        let entry = try #require(handler.entries.first)
        #expect(entry.level == .debug)
        #expect(entry.message == "Attempt ended")
        #expect(
            entry.metadata == [
                "http.request.method": "GET", "http.request.resend_count": "2", "http.response.status_code": "503",
                "server.address": "api.example.org", "server.port": "443", "error.type": "503",
                "url.full": "https://api.example.org/users?key=…", "http.client.request.duration": "0.25",
            ]
        )
    }

    @Test func successfulResponseHasNoError() async throws {
        _ = try await StubDataFetcher(DataResponse()).observing(with: observer).fetch(try TelemetryFixture.request())
        let entry = try #require(handler.entries.last)
        #expect(entry.message == "Request ended")
        #expect(entry.metadata["http.response.status_code"] == "200")
        #expect(entry.metadata["error.type"] == nil)
        #expect(entry.metadata["exception.message"] == nil)
        #expect(entry.metadata["http.request.resend_count"] == nil)
    }

    @Test func eachEventHasItsLogLevel() throws {
        TelemetryFixture.reportAllEvents(of: try TelemetryFixture.request(), to: observer)
        let written = handler.entries.map { "\($0.level) \($0.message)" }
        #expect(
            written == [
                "debug Request ended", "debug Answered from cache", "debug Joined an equal request",
                "info Retry scheduled", "info Hedged", "warning Rejected", "warning Fell back",
                "info Credentials refreshed", "warning Circuit changed", "warning Operation",
            ]
        )
    }

    @Test(arguments: [("open", Logger.Level.warning), ("closed", .notice), ("half-open", .notice)])
    func openedCircuitIsAWarning(state: String, level: Logger.Level) {
        observer.circuitChanged("api", from: "before", to: state)
        let names: Logger.Metadata = [
            "inward.circuit.name": "api", "inward.circuit.state_before": "before", "inward.circuit.state": "\(state)",
        ]
        #expect(handler.entries.map(\.level) == [level])
        #expect(handler.entries.map(\.metadata) == [names])
    }

    @Test func failureIsLoggedWithItsExplanation() throws {
        let request = try TelemetryFixture.request(attempt: 2)
        let error = FetchError(.unreachable, request: request, explanation: "could not reach the host")
        observer.retryScheduled(request, after: .milliseconds(1_500), because: .failure(error))
        let metadata = try #require(handler.entries.first?.metadata)
        #expect(metadata["error.type"] == "unreachable")
        #expect(metadata["exception.message"] == "could not reach the host")
        #expect(metadata["inward.retry.delay"] == "1.5")
        #expect(metadata["http.request.resend_count"] == "1")
    }

    @Test func everyEventHasAMessageAndAServer() throws {
        TelemetryFixture.reportAllEvents(of: try TelemetryFixture.request(), to: observer)
        let types = handler.entries.map { $0.metadata["error.type"]?.description }
        #expect(types.compactMap(\.self) == ["unreachable", "unreachable", "rejected", "unreachable", "rejected"])
        #expect(types.indices.filter { types[$0] != nil } == [0, 3, 5, 6, 9])
        let servers = handler.entries.dropLast(2).map { $0.metadata["server.address"]?.description }
        #expect(servers.allSatisfy { $0 == "api.example.org" })
        #expect(handler.entries.first?.metadata["inward.client.request.duration"] == "2.0")
    }

    @Test func noRecordContainsACredential() async throws {
        let request = try TelemetryFixture.request()
        TelemetryFixture.reportAllEvents(of: request, to: observer)
        let failing = StubDataFetcher { request throws(FetchError) in
            throw TelemetryFixture.error(.interrupted, about: request)
        }
        await #expect(throws: FetchError.self) { try await failing.observing(with: observer).fetch(request) }
        let written = handler.entries.map { "\($0)" }.joined()
        #expect(handler.entries.count == 12)
        #expect(TelemetryFixture.secrets.filter(written.contains) == [])
    }

    @Test func hiddenCharactersInRecordsAreEscaped() throws {
        let request = try TelemetryFixture.hostileRequest()
        let error = FetchError(.unreachable, request: request, explanation: TelemetryFixture.hostileText)
        TelemetryFixture.reportAllEvents(of: request, to: observer)
        observer.rejected(request, because: error)
        observer.circuitChanged(
            TelemetryFixture.hostileText,
            from: TelemetryFixture.hostileText,
            to: TelemetryFixture.hostileText
        )
        let metadata = handler.entries.suffix(2).map(\.metadata)
        #expect(metadata.first?["server.address"] == .string(TelemetryFixture.visibleServer))
        #expect(metadata.first?["exception.message"] == .string(TelemetryFixture.visibleText))
        for name in ["name", "state", "state_before"] {
            #expect(metadata.last?["inward.circuit.\(name)"] == .string(TelemetryFixture.visibleText))
        }
        let values = handler.entries.flatMap { $0.metadata.values.map(\.description) }
        #expect(values.allSatisfy { $0.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) || $0 == "…" } })
    }

    @Test func recordNamesTheInteraction() throws {
        let request = try TelemetryFixture.request()
        InteractionID.$current.withValue(InteractionID("request\n17")) {
            observer.hedged(request)
            observer.circuitChanged("api", from: "closed", to: "open")
        }
        observer.hedged(request)
        let ids = handler.entries.map { $0.metadata["inward.interaction.id"] }
        #expect(ids == [#"request\n17"#, #"request\n17"#, nil])
    }

    @Test func operationErrorOfThisPackageIsLogged() {
        let rejection = ResilienceError(.rejected, operation: "the look-up", explanation: "was not started")
        observer.operation("the look-up", .rejected(rejection))
        observer.operation("the look-up", .ended(error: rejection, after: .seconds(2)))
        observer.operation("the look-up", .fellBack(because: CancellationError()))
        #expect(handler.entries.map { $0.error as? ResilienceError } == [rejection, rejection, nil])
        #expect(handler.entries.last?.metadata["error.type"] == "cancelled" && handler.entries.last?.error == nil)
    }

    @Test func operationIsLoggedWithItsKindOfFailure() {
        observer.operation("the look-up", .attemptEnded(error: CancellationError(), after: .milliseconds(250)))
        observer.operation("the look-up", .ended(error: nil, after: .seconds(2)))
        #expect(handler.entries.map(\.level) == [.debug, .debug])
        #expect(
            handler.entries.first?.metadata == [
                "inward.operation.name": "the look-up", "inward.operation.event": "attempt_ended",
                "inward.operation.attempt.duration": "0.25", "error.type": "cancelled",
            ]
        )
        #expect(handler.entries.last?.metadata["inward.operation.duration"] == "2.0")
    }

    @Test func higherLogLevelSuppressesRecords() throws {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .warning
        TelemetryFixture.reportAllEvents(of: try TelemetryFixture.request(), to: LoggingFetchObserver(logger: logger))
        #expect(handler.entries.map(\.message) == ["Rejected", "Fell back", "Circuit changed", "Operation"])
    }
}
#endif
