#if Observability
import InMemoryLogging
import InMemoryTracing
import InwardFetching
import InwardObservability
import InwardTesting
import Logging
import MetricsTestKit
import Testing

struct TelemetryFetchObserverTests {
    private let handler = InMemoryLogHandler()
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()

    private var observer: TelemetryFetchObserver {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        return TelemetryFetchObserver(logger: logger, factory: metrics, tracer: tracer)
    }

    @Test func attemptIsLoggedMeasuredAndTraced() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        _ = try await source.observing(with: observer).fetch(try TelemetryFixture.request())
        #expect(handler.entries.map(\.message) == ["Attempt ended", "Request ended"])
        #expect(
            metrics.timers.map(\.label).sorted() == ["http.client.request.duration", "inward.client.request.duration"]
        )
        let span = try #require(tracer.finishedSpans.first)
        let name = try #require(HeaderField.Name(InMemoryTracer.spanIDKey))
        #expect(source.requests.first?.headerFields[name] == span.spanID)
    }

    @Test func everyEventIsLoggedAndHasACounter() throws {
        TelemetryFixture.reportAllEvents(of: try TelemetryFixture.request(), to: observer)
        #expect(handler.entries.count == 10)
        #expect(metrics.counters.count == 9)
        #expect(metrics.timers.count == 1)
    }
}
#endif
