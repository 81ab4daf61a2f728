#if Observability
import Foundation
import InMemoryLogging
import InMemoryTracing
import InwardCore
import InwardFetching
import InwardObservability
import InwardRepositories
import InwardTesting
import Logging
import Metrics
import MetricsTestKit
import Testing
import Tracing

/// Tests of the telemetry of repositories, stores and outboxes.
@Suite(.timeLimit(.minutes(5)))
struct TelemetryRepositoryObserverTests {
    private struct NoteDTO: RecordDTO {
        static let listName = "notes"
        let id: Int

        init(_ note: Note) { id = note.id }

        func entity() throws(FieldError) -> Note { Note(id: id) }
    }

    private struct Note: Identifiable, Sendable {
        let id: Int
    }

    private let handler = InMemoryLogHandler()
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let observer: TelemetryRepositoryObserver

    init() {
        var logger = Logger(label: "test") { [handler] _ in handler }
        logger.logLevel = .trace
        observer = TelemetryRepositoryObserver(logger: logger, factory: metrics, tracer: tracer)
    }

    private func entry(acceptedAt seconds: Double = 0) async throws -> OutboxEntry {
        let write = OutboxWrite(endpoint: "notes", subject: ["notes", "7"], method: .put, path: "notes/7", body: [1])
        let store = InMemoryRecordStore()
        let (clock, url) = (ManualClock(), try #require(URL(string: "https://upstream.test")))
        let outbox = Outbox(
            upstream: Upstream(baseURL: url, dataFetcher: StubDataFetcher(failing: .unreachable)),
            store: store,
            timer: TimerService(clock),
            now: { Date(timeIntervalSince1970: seconds) },
            errorHandler: IgnoringErrorHandler()
        )
        try await outbox.open(handlers: [RecordingOutboxHandler("notes")])
        let entry = try await outbox.accept([write])[0]
        await outbox.close()
        return entry
    }

    @Test func readIsLoggedMeasuredAndTraced() async throws {
        let url = try #require(URL(string: "https://upstream.test"))
        let source = StubDataFetcher(DataResponse(body: Data(#"{"id": 7}"#.utf8)))
            .observing(with: TracingFetchObserver(tracer: tracer))
        let notes = Repository(
            Endpoint(NoteDTO.self, at: "notes"),
            upstream: Upstream(baseURL: url, dataFetcher: source),
            timer: TimerService(ManualClock()),
            observer: observer
        )
        try await InteractionID.$current.withValue(InteractionID("17")) {
            _ = try await notes.entity(7)
            _ = try await notes.entity(7)
        }
        let (miss, hit) = (labels("miss", "upstream"), labels("hit", "memory"))
        for labels in [miss, hit] {
            #expect(try metrics.expectTimer("inward.repository.read.duration", labels).values == [0])
        }
        #expect(handler.entries.map(\.message) == ["Read ended", "Read ended"])
        #expect(
            handler.entries.last?.metadata == [
                "inward.interaction.id": "17", "inward.repository.endpoint": "notes",
                "inward.repository.read.kind": "entity", "inward.repository.read.result": "hit",
                "inward.repository.read.origin": "memory", "inward.repository.read.policy": "cache first",
                "inward.repository.read.duration": "0.0",
            ]
        )
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "read notes", "read notes"])
        #expect(spans.first?.parentSpanID == spans.dropFirst().first?.spanID)
        #expect(spans.allSatisfy { $0.attributes.get("inward.interaction.id") == .string("17") })
    }

    private func labels(_ result: String, _ origin: String, error: String = "") -> [(String, String)] {
        [
            ("inward.repository.endpoint", "notes"), ("inward.repository.read.kind", "entity"),
            ("inward.repository.read.result", result), ("inward.repository.read.origin", origin), ("error.type", error),
        ]
    }

    @Test func errorsStaleAnswersAndFallbacksAreSeparateResults() throws {
        let error = RepositoryError(.unavailable, request: "GET notes/7", explanation: "was not answered")
        let readings = [
            Reading(7, origin: .memory, age: .seconds(90), isStale: true),
            Reading(7, origin: .store, isStale: true, fallbackReason: error),
        ]
        let outcomes = readings.map { Result<RepositoryRead.Answer, RepositoryError>.success(.init($0)) }
        for outcome in outcomes + [.failure(error)] {
            observer.readEnded(
                RepositoryRead("notes", isList: false),
                by: .cacheFirst,
                outcome,
                after: .milliseconds(250)
            )
        }
        let expected = [
            labels("stale", "memory"), labels("fallback", "store", error: "unavailable"),
            labels("error", "", error: "unavailable"),
        ]
        for labels in expected {
            let timer = try metrics.expectTimer("inward.repository.read.duration", labels)
            #expect(timer.valueInPreferredUnit(atIndex: 0) == 0.25)
        }
        #expect(handler.entries.first?.metadata["inward.repository.read.age"] == "90.0")
    }

    @Test func joinsRefreshesAndRevalidationsAreCounted() throws {
        let read = RepositoryRead("notes", isList: true)
        observer.joined(read)
        observer.refreshBegan(read)
        observer.revalidated("notes", isModified: false)
        let labels = [("inward.repository.endpoint", "notes"), ("inward.repository.read.kind", "list")]
        #expect(try metrics.expectCounter("inward.repository.joins", labels).values == [1])
        #expect(try metrics.expectCounter("inward.repository.refreshes", labels).values == [1])
        let result = [("inward.repository.endpoint", "notes"), ("inward.repository.read.result", "not_modified")]
        #expect(try metrics.expectCounter("inward.repository.revalidations", result).values == [1])
        #expect(handler.entries.map(\.message) == ["Joined an equal read", "Refresh began", "Revalidated"])
    }

    @Test func storeOperationIsMeasuredAndTracedAndItsFailureLogged() async throws {
        let failure = RecordStoreError(.full, explanation: "It is full.")
        let records = RecordingRecordStore()
        let store = records.observing(with: observer, timer: TimerService(ManualClock()))
        try await store.commit([])
        records.fail(with: failure)
        await #expect(throws: RecordStoreError.self) { try await store.commit([]) }
        for error in ["", "full"] {
            let labels = [("db.system.name", "inward"), ("db.operation.name", "commit"), ("error.type", error)]
            #expect(try metrics.expectTimer("db.client.operation.duration", labels).values == [0])
        }
        #expect(handler.entries.map(\.message) == ["The store failed"])
        #expect(handler.entries.first?.error as? RecordStoreError == failure)
        #expect(tracer.finishedSpans.map(\.operationName) == ["commit inward", "commit inward"])
        #expect(tracer.finishedSpans.map(\.status) == [nil, SpanStatus(code: .error, message: "It is full.")])
        #expect(tracer.finishedSpans.last?.attributes.get("error.type") == .string("full"))
    }

    @Test func outboxIsReportedAsAMessageQueue() async throws {
        let entry = try await entry()
        let error = RepositoryError(.refused, request: "PUT notes/7", explanation: "was refused")
        observer.writesAccepted([entry, entry])
        observer.deliveryEnded(entry, .refused(error), after: .seconds(2))
        await observer.surround(.delivery(entry)) { () async throws(Never) in }
        let labels = [("messaging.system", "inward"), ("messaging.destination.name", "notes")]
        #expect(try metrics.expectCounter("messaging.client.sent.messages", labels).totalValue == 2)
        let result = labels + [("inward.outbox.delivery.result", "refused"), ("error.type", "refused")]
        #expect(try metrics.expectTimer("messaging.process.duration", result).valueInPreferredUnit(atIndex: 0) == 2)
        let written = handler.entries.map { "\($0.level) \($0.message)" }
        #expect(written == ["debug Write accepted", "debug Write accepted", "warning Delivery ended"])
        #expect(handler.entries.last?.error as? RepositoryError == error)
        #expect(tracer.finishedSpans.map(\.operationName) == ["process notes"])
        #expect(tracer.finishedSpans.first?.kind == .consumer)
        // The idempotency key is a secret.
        let told = "\(handler.entries) \(tracer.finishedSpans.map(\.attributes))"
        #expect(!told.contains(entry.idempotencyKey))
    }

    @Test func gaugesShowTheSumOfAllOutboxes() async throws {
        func gauge(_ name: String) throws -> Double? {
            try metrics.expectMeter("inward.outbox.\(name)", []).values.last
        }
        let url = try #require(URL(string: "https://upstream.test"))
        var outboxes: [Outbox] = []
        for (user, seconds) in [("ada", 0.0), ("bob", 5)] {
            let outbox = Outbox(
                upstream: Upstream(baseURL: url, dataFetcher: StubDataFetcher(failing: .unreachable)),
                store: InMemoryRecordStore(),
                prefix: [user],
                timer: TimerService(ManualClock()),
                now: { Date(timeIntervalSince1970: seconds) },
                observer: observer,
                errorHandler: IgnoringErrorHandler()
            )
            try await outbox.open(handlers: [RecordingOutboxHandler("notes")])
            try await outbox.accept([
                OutboxWrite(endpoint: "notes", subject: ["notes", "7"], method: .put, path: "notes/7", body: [1])
            ])
            outboxes.append(outbox)
        }
        #expect(try gauge("pending") == 2)
        #expect(try gauge("oldest.age") == 5)
        #expect(try gauge("dead_letters") == 0)
        for outbox in outboxes { await outbox.close() }
        #expect(try gauge("pending") == 0)
        #expect(try gauge("oldest.age") == 0)
    }
}
#endif
