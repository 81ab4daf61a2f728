#if Observability
import Foundation
import InwardFetching
import InwardObservability
import InwardTesting
import Metrics
import MetricsTestKit
import Testing

struct MeteringFetchObserverTests {
    private let metrics = TestMetrics()
    private let server = [("server.address", "api.example.org"), ("server.port", "443")]

    private func labels(method: String = "GET", status: String, error: String) -> [(String, String)] {
        server + [
            ("http.request.method", method), ("http.response.status_code", status), ("error.type", error),
        ]
    }

    /// Reports a request with one attempt, which took a quarter of a second.
    private func report(_ request: DataRequest, _ outcome: Result<DataResponse, FetchError>) {
        let observer = MeteringFetchObserver(factory: metrics)
        observer.attemptEnded(request, outcome, after: .milliseconds(250))
        observer.requestEnded(request, outcome, after: .milliseconds(300))
    }

    @Test(arguments: [("http.client.request.duration", 0.25), ("inward.client.request.duration", 0.3)])
    func durationsAreInSeconds(metric: String, seconds: Double) throws {
        report(try TelemetryFixture.request(), .success(DataResponse()))
        let timer = try metrics.expectTimer(metric, labels(status: "200", error: ""))
        #expect(timer.values.count == 1)
        #expect(timer.valueInPreferredUnit(atIndex: 0) == seconds)
        #expect(metrics.timers.count == 2)
    }

    @Test func errorStatusIsTheErrorType() throws {
        report(try TelemetryFixture.request(), .success(DataResponse(status: 503)))
        _ = try metrics.expectTimer("http.client.request.duration", labels(status: "503", error: "503"))
    }

    @Test(arguments: [FetchError.Reason.unreachable, .timedOut, .cancelled])
    func failureHasAReasonAndNoStatus(reason: FetchError.Reason) throws {
        let request = try TelemetryFixture.request()
        report(request, .failure(TelemetryFixture.error(reason, about: request)))
        for metric in ["http.client.request.duration", "inward.client.request.duration"] {
            _ = try metrics.expectTimer(metric, labels(status: "", error: reason.description))
        }
    }

    @Test func unknownMethodBecomesOther() throws {
        var request = try TelemetryFixture.request()
        request.method = try #require(DataRequest.Method("BREW"))
        report(request, .success(DataResponse()))
        _ = try metrics.expectTimer(
            "http.client.request.duration",
            labels(method: "_OTHER", status: "200", error: "")
        )
    }

    @Test func pathIsNeverALabel() async throws {
        let observer = MeteringFetchObserver(factory: metrics)
        let source = StubDataFetcher(DataResponse()).observing(with: observer)
        for path in ["users/1", "users/2", "posts?userId=3"] {
            let url = try #require(URL(string: "https://api.example.org/\(path)"))
            _ = try await source.fetch(DataRequest(url: url))
        }
        let timer = try metrics.expectTimer("http.client.request.duration", labels(status: "200", error: ""))
        #expect(timer.values.count == 3)
        #expect(metrics.timers.count == 2)
    }

    @Test func metricAlwaysHasTheSameLabelNames() throws {
        let request = try TelemetryFixture.request()
        report(request, .success(DataResponse()))
        report(request, .failure(TelemetryFixture.error(.timedOut, about: request)))
        report(DataRequest(url: try #require(URL(string: "sample:users"))), .success(DataResponse()))
        let names = metrics.timers.map { timer in timer.dimensions.map(\.0) }
        #expect(metrics.timers.count == 6)
        #expect(Set(names).count == 1)
    }

    @Test func everyEventHasACounter() throws {
        let observer = MeteringFetchObserver(factory: metrics)
        TelemetryFixture.reportAllEvents(of: try TelemetryFixture.request(), to: observer)
        for event in ["cache_hits", "joins", "hedges", "rejections", "credential_refreshes"] {
            #expect(try metrics.expectCounter("inward.client.\(event)", server).values == [1])
        }
        for event in ["retries", "fallbacks"] {
            let labels = server + [("error.type", "unreachable")]
            #expect(try metrics.expectCounter("inward.client.\(event)", labels).values == [1])
        }
        let circuit = [("inward.circuit.name", "api"), ("inward.circuit.state", "open")]
        #expect(try metrics.expectCounter("inward.client.circuit_changes", circuit).values == [1])
        let operation = [("inward.operation.name", "the look-up"), ("inward.operation.event", "rejected")]
        #expect(try metrics.expectCounter("inward.operation.events", operation).values == [1])
        #expect(metrics.counters.count == 9)
    }

    @Test func circuitStateIsAGauge() throws {
        let observer = MeteringFetchObserver(factory: metrics)
        let circuit = [("inward.circuit.name", "api")]
        for (old, new, value) in [("closed", "open", 2.0), ("open", "half open", 1), ("half open", "closed", 0)] {
            observer.circuitChanged("api", from: old, to: new)
            #expect(try metrics.expectMeter("inward.client.circuit_state", circuit).values.last == value)
        }
    }

    @Test func operationDurationsAreRecorded() throws {
        let observer = MeteringFetchObserver(factory: metrics)
        observer.operation("the look-up", .attemptEnded(error: CancellationError(), after: .milliseconds(250)))
        observer.operation("the look-up", .ended(error: nil, after: .milliseconds(500)))
        let failed = [("inward.operation.name", "the look-up"), ("error.type", "cancelled")]
        let attempt = try metrics.expectTimer("inward.operation.attempt.duration", failed)
        #expect(attempt.valueInPreferredUnit(atIndex: 0) == 0.25)
        let succeeded = [("inward.operation.name", "the look-up"), ("error.type", "")]
        let call = try metrics.expectTimer("inward.operation.duration", succeeded)
        #expect(call.valueInPreferredUnit(atIndex: 0) == 0.5)
    }

    @Test func numberOfLabelSetsIsLimited() throws {
        let observer = MeteringFetchObserver(factory: metrics, labelSetLimit: 3)
        for number in 1...20 {
            observer.joined(DataRequest(url: try #require(URL(string: "https://\(number).example.org"))))
        }
        #expect(metrics.counters.count == 4)
        let others = [("server.address", "_OTHER"), ("server.port", "_OTHER")]
        #expect(try metrics.expectCounter("inward.client.joins", others).totalValue == 17)
    }

    @Test func hiddenCharactersInLabelsAreEscaped() throws {
        let observer = MeteringFetchObserver(factory: metrics)
        let request = try TelemetryFixture.hostileRequest()
        report(request, .failure(FetchError(.unreachable, request: request, explanation: TelemetryFixture.hostileText)))
        observer.joined(request)
        observer.circuitChanged(TelemetryFixture.hostileText, from: "closed", to: TelemetryFixture.hostileText)
        let server = [("server.address", TelemetryFixture.visibleServer), ("server.port", "443")]
        #expect(try metrics.expectCounter("inward.client.joins", server).values == [1])
        let circuit = [
            ("inward.circuit.name", TelemetryFixture.visibleText),
            ("inward.circuit.state", TelemetryFixture.visibleText),
        ]
        #expect(try metrics.expectCounter("inward.client.circuit_changes", circuit).values == [1])
        let values = metrics.timers.flatMap { $0.dimensions.map(\.1) }
        #expect(values.contains(TelemetryFixture.visibleServer))
        #expect(values.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
    }

    @Test func noLabelContainsACredential() throws {
        let request = try TelemetryFixture.request()
        report(request, .failure(TelemetryFixture.error(.interrupted, about: request)))
        TelemetryFixture.reportAllEvents(of: request, to: MeteringFetchObserver(factory: metrics))
        let reported =
            metrics.timers.map { "\($0.label) \($0.dimensions)" }
            + metrics.counters.map { "\($0.label) \($0.dimensions)" }
            + metrics.meters.map { "\($0.label) \($0.dimensions)" }
        #expect(reported.count == 13)
        #expect(TelemetryFixture.secrets.filter(reported.joined().contains) == [])
    }

    /// The metrics factory of the process, which can be set only once.
    private static let systemMetrics: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()

    @Test func systemFactoryIsTheDefault() throws {
        let metrics = Self.systemMetrics
        MeteringFetchObserver().joined(DataRequest(url: try #require(URL(string: "https://metrics.example.org/"))))
        let server = [("server.address", "metrics.example.org"), ("server.port", "443")]
        #expect(try metrics.expectCounter("inward.client.joins", server).values == [1])
    }
}
#endif
