#if Observability
import Foundation
import InMemoryLogging
import InMemoryTracing
import InwardCore
import InwardFetching
import InwardObservability
import InwardTesting
import Logging
import MetricsTestKit
import Synchronization
import Testing
import Tracing

struct TracingFetchObserverTests {
    private let tracer = InMemoryTracer()

    /// Returns a fetcher with spans.
    private func pipeline(_ source: some DataFetcher) -> some DataFetcher {
        source.observing(with: TracingFetchObserver(tracer: tracer))
    }

    private func pipeline(_ response: DataResponse) -> some DataFetcher { pipeline(StubDataFetcher(response)) }

    @Test func spanContextIsSentToTheUpstream() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let name = try #require(HeaderField.Name(InMemoryTracer.spanIDKey))
        var request = try TelemetryFixture.request()
        request.headerFields.append(HeaderField(name, "an earlier span"))
        _ = try await pipeline(source).fetch(request)
        let span = try #require(tracer.finishedSpans.first)
        let sent = try #require(source.requests.first)
        #expect(sent.headerFields.values(of: name) == [span.spanID])
        #expect(sent.headerFields[.authorization] == request.headerFields[.authorization])
    }

    @Test func spanIsAChildOfTheCurrentSpan() async throws {
        let request = try TelemetryFixture.request()
        try await tracer.withSpan("around") { _ in _ = try await pipeline(DataResponse()).fetch(request) }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "around"])
        #expect(spans.first?.parentSpanID == spans.last?.spanID)
    }

    @Test func spanNamesTheInteraction() async throws {
        let request = try TelemetryFixture.request()
        try await InteractionID.$current.withValue(InteractionID("17")) {
            _ = try await pipeline(DataResponse()).fetch(request)
        }
        #expect(tracer.finishedSpans.first?.attributes.get("inward.interaction.id") == .string("17"))
    }

    @Test func spanIsCurrentDuringTheAttempt() async throws {
        let seen = Mutex<String?>(nil)
        let source = StubDataFetcher { _ throws(FetchError) in
            seen.withLock { $0 = ServiceContext.current?.inMemorySpanContext?.spanID }
            return DataResponse()
        }
        _ = try await pipeline(source).fetch(try TelemetryFixture.request())
        #expect(seen.withLock(\.self) == tracer.finishedSpans.first?.spanID)
        #expect(ServiceContext.current == nil)
    }

    @Test func spanHasConventionalAttributes() async throws {
        _ = try await pipeline(DataResponse()).fetch(try TelemetryFixture.request())
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "GET")
        #expect(span.kind == .client)
        #expect(span.status == nil)
        #expect(span.errors.isEmpty && span.events.isEmpty)
        #expect(
            span.attributes
                == SpanAttributes([
                    "http.request.method": "GET", "server.address": "api.example.org", "server.port": 443,
                    "url.full": "https://api.example.org/users?key=…", "http.response.status_code": 200,
                ])
        )
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test(arguments: [(1, nil), (2, 1), (3, 2)]) func retriedAttemptHasAResendCount(
        attempt: Int,
        count: Int64?
    ) async throws {
        _ = try await pipeline(DataResponse()).fetch(try TelemetryFixture.request(attempt: attempt))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("http.request.resend_count") == count.map { .int64($0) })
    }

    @Test(arguments: [(399, false), (400, true), (404, true), (503, true)])
    func statusOf400OrAboveIsAnError(status: Int, isError: Bool) async throws {
        _ = try await pipeline(DataResponse(status: .init(status))).fetch(try TelemetryFixture.request())
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("http.response.status_code") == .int64(Int64(status)))
        #expect(span.attributes.get("error.type") == (isError ? .string("\(status)") : nil))
        // The status code says what failed, so the span needs no message.
        #expect(span.status == (isError ? SpanStatus(code: .error) : nil))
    }

    @Test(arguments: [FetchError.Reason.unreachable, .timedOut, .cancelled, .interrupted])
    func failureIsAnErrorWithItsReason(reason: FetchError.Reason) async throws {
        let source = StubDataFetcher(failing: reason, explanation: "failed")
        let request = try TelemetryFixture.request()
        let error = await #expect(throws: FetchError.self) { try await pipeline(source).fetch(request) }
        #expect(error?.reason == reason)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.status == SpanStatus(code: .error, message: "failed"))
        #expect(span.attributes.get("error.type") == .string(reason.description))
        #expect(span.attributes.get("http.response.status_code") == nil)
    }

    @Test func thrownUnsuccessfulResponseHasItsStatus() async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(DataResponse(status: 429), to: request)
        }
        let request = try TelemetryFixture.request()
        await #expect(throws: FetchError.self) { try await pipeline(source).fetch(request) }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("error.type") == "429")
        #expect(span.attributes.get("http.response.status_code") == 429)
    }

    @Test func unknownMethodIsReportedSeparately() async throws {
        var request = try TelemetryFixture.request()
        request.method = try #require(DataRequest.Method("get"))
        _ = try await pipeline(DataResponse()).fetch(request)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "HTTP")
        #expect(span.attributes.get("http.request.method") == "_OTHER")
        #expect(span.attributes.get("http.request.method_original") == "get")
        #expect(span.attributes.get("url.full") == "https://api.example.org/users?key=…")
    }

    @Test(arguments: [("http://localhost:8787/", 8787), ("http://localhost/", 80), ("HTTPS://localhost/", 443)])
    func spanHasTheEffectivePort(address: String, port: Int64) async throws {
        _ = try await pipeline(DataResponse()).fetch(DataRequest(url: try #require(URL(string: address))))
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("server.port") == .int64(port))
        #expect(span.attributes.get("server.address") == "localhost")
    }

    @Test func hiddenCharactersInSpansAreEscaped() async throws {
        let source = StubDataFetcher(failing: .unreachable, explanation: TelemetryFixture.hostileText)
        let request = try TelemetryFixture.hostileRequest()
        await #expect(throws: FetchError.self) { try await pipeline(source).fetch(request) }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.attributes.get("server.address") == .string(TelemetryFixture.visibleServer))
        #expect(span.attributes.get("url.full") == .string(try TelemetryFixture.hostileRequest().url.absoluteString))
        #expect(span.status == SpanStatus(code: .error, message: TelemetryFixture.visibleText))
    }

    @Test func noSpanContainsACredential() async throws {
        let request = try TelemetryFixture.request()
        let source = StubDataFetcher { request throws(FetchError) in
            throw TelemetryFixture.error(.interrupted, about: request)
        }
        await #expect(throws: FetchError.self) { try await pipeline(source).fetch(request) }
        let told = tracer.finishedSpans.map { "\($0.operationName) \($0.attributes) \(String(describing: $0.status))" }
        #expect(told.count == 1)
        #expect(TelemetryFixture.secrets.filter(told.joined().contains) == [])
    }

    @Test(arguments: [true, false]) func operationCallIsASpanWithAChildForEachAttempt(isWhole: Bool) async throws {
        struct Failure: Error {}
        let failures = Mutex(1)
        let tracing = TracingFetchObserver(tracer: tracer)
        let observer: any FetchObserver = isWhole ? TelemetryFetchObserver(tracing: tracing) : tracing
        let call = ResilientOperation("the look-up") { (id: Int) in
            let hasFailed = failures.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            if hasFailed { throw Failure() }
            return "\(id) in \(ServiceContext.current?.inMemorySpanContext?.spanID ?? "none")"
        }
        .retrying(RetrySchedule(attempts: 2, baseDelay: .zero)) { _ in .again }
        .observing(with: observer)
        let output = try await InteractionID.$current.withValue(InteractionID("17")) { try await call(7) }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["attempt the look-up", "attempt the look-up", "the look-up"])
        #expect(spans.allSatisfy { $0.kind == .internal })
        #expect(spans.dropLast().allSatisfy { $0.parentSpanID == spans.last?.spanID })
        #expect(output == "7 in \(spans.dropFirst().first?.spanID ?? "")")
        for span in spans {
            #expect(span.attributes.get("inward.operation.name") == "the look-up")
            #expect(span.attributes.get("inward.interaction.id") == "17")
        }
        #expect(spans.map { $0.status?.code } == [.error, nil, nil])
        #expect(spans.first?.attributes.get("error.type") == "Failure")
        #expect(ServiceContext.current == nil && tracer.activeSpans.isEmpty)
    }

    @Test func rejectedCallIsASpanWithoutAttempts() async throws {
        let observer = TracingFetchObserver(tracer: tracer)
        let breaking = CircuitBreaker("database")
        breaking.isolate()
        let broken = ResilientOperation("the look-up") { (id: Int) in id }
            .breakingCircuit(breaking) { _ in true }
            .observing(with: observer)
        await #expect(throws: ResilienceError.self) { try await broken(7) }
        let span = try #require(tracer.finishedSpans.first)
        #expect(tracer.finishedSpans.map(\.operationName) == ["the look-up"] && span.status?.code == .error)
        #expect(span.attributes.get("error.type") == "rejected")
        #expect(span.status?.message == "the look-up was not sent: the circuit to database is isolated")
    }

    @Test func textOfAForeignErrorIsNotReported() async throws {
        struct QueryFailure: Error, CustomStringConvertible {
            let description = "SELECT name FROM users WHERE token = 'tokenS3cret'"
        }
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        let call = ResilientOperation("the look-up") { (id: Int) async throws -> Int in throw QueryFailure() }
            .retrying(RetrySchedule(attempts: 2, baseDelay: .zero)) { _ in .again }
            .fallingBack(to: 0) { _ in true }
            .observing(with: TelemetryFetchObserver(logger: logger, factory: TestMetrics(), tracer: tracer))
        #expect(try await call(7) == 0)
        let attempts = tracer.finishedSpans.filter { $0.operationName == "attempt the look-up" }
        #expect(attempts.map(\.status) == [SpanStatus(code: .error), SpanStatus(code: .error)])
        #expect(attempts.allSatisfy { $0.attributes.get("error.type") == "QueryFailure" })
        let events = handler.entries.filter { $0.metadata["error.type"] == "QueryFailure" }
        #expect(
            events.map { $0.metadata["inward.operation.event"] } == [
                "attempt_ended", "retry_scheduled", "attempt_ended", "fell_back",
            ]
        )
        #expect(events.allSatisfy { $0.error == nil })
        let told = tracer.finishedSpans.map { "\($0.attributes) \(String(describing: $0.status)) \($0.errors)" }
        #expect(TelemetryFixture.secrets.filter((told.joined() + "\(handler.entries)").contains) == [])
    }

    @Test func textOfAnErrorOfThisPackageIsReported() async throws {
        let request = try TelemetryFixture.request()
        let failing = ResilientOperation("the look-up") { (id: Int) async throws -> Int in
            throw TelemetryFixture.error(.interrupted, about: request)
        }
        .observing(with: TracingFetchObserver(tracer: tracer))
        await #expect(throws: FetchError.self) { try await failing(7) }
        let messages = tracer.finishedSpans.map { $0.status?.message ?? "" }
        #expect(messages.count == 2 && messages.allSatisfy { $0.hasPrefix("was not answered: ") })
        #expect(TelemetryFixture.secrets.filter(messages.joined().contains) == [])
    }

    /// The tracer of the process, which can be set only once.
    private static let systemTracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    @Test func systemTracerIsTheDefault() async throws {
        let tracer = Self.systemTracer
        let request = DataRequest(url: try #require(URL(string: "https://tracing.example.org/")))
        _ = try await StubDataFetcher(DataResponse()).observing(with: TracingFetchObserver()).fetch(request)
        let servers = tracer.finishedSpans.map { $0.attributes.get("server.address") }
        #expect(servers.filter { $0 == "tracing.example.org" }.count == 1)
    }
}
#endif
