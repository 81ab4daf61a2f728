import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InwardCore
import InwardFetching
import InwardObservability
import InwardScopes
import InwardTesting
import Logging
import Synchronization
import Testing
import Tracing

@testable import FeedService

struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    @Test func fieldIsReadAndWritten() throws {
        let context = try #require(TraceContext(field: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(context.trace == Self.trace && context.span == Self.span && context.isSampled)
        #expect(context.field == "00-\(Self.trace)-\(Self.span)-01")
        #expect(TraceContext(field: "00-\(Self.trace)-\(Self.span)-02")?.isSampled == false)
        // A later version may have more parts.
        #expect(TraceContext(field: "cc-\(Self.trace)-\(Self.span)-01-what-else")?.isSampled == true)
    }

    @Test(
        arguments: [
            "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-1",
            "ff-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "00-\(trace)-\(span)-+1",
            "00-\(trace.uppercased())-\(span)-01", "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)0-01",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
        ]
    )
    func malformedFieldIsIgnored(field: String) {
        #expect(TraceContext(field: field) == nil)
    }

    @Test func identifiersHaveTheirLengthAndAreNew() {
        let contexts = (0..<100).map { _ in TraceContext(isSampled: true) }
        #expect(contexts.allSatisfy { TraceContext(field: $0.field) == $0 })
        #expect(Set(contexts.map(\.trace)).count == 100)
        let child = TraceContext(in: contexts[0])
        #expect(child.trace == contexts[0].trace && child.span != contexts[0].span && child.isSampled)
    }
}

struct SpanLogTests {
    /// Keeps the metadata of records by their message.
    private final class Records: Sendable {
        private let records = Mutex<[String: Logger.Metadata]>([:])

        var messages: [String] { records.withLock { $0.keys.sorted() } }

        var logger: Logger { Logger(label: "test") { _ in Handler(records: self) } }

        subscript(message: String, field: String) -> String? { records.withLock { $0[message]?[field]?.description } }

        struct Handler: LogHandler {
            let records: Records
            var logLevel = Logger.Level.info
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                records.records.withLock { $0["\(event.message)"] = event.metadata ?? [:] }
            }
        }
    }

    private let records = Records()
    private let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// Sends a request to a service whose upstream has no users, and returns the traces of the requests to the upstream.
    private func trace(_ fields: HTTPFields = [:], share: Double) async throws -> [String] {
        let tracer = SpanLog(share: share, logger: records.logger)
        let upstream = RecordingDataFetcher(StubDataFetcher { _ in DataResponse(body: Data("[]".utf8)) })
        try await withTracer(tracer) {
            var settings = ServiceSettings()
            settings.traceShare = 1
            try await FeedStage(
                settings,
                dataFetcher: upstream,
                observers: AppObservers(fetching: TracingFetchObserver(tracer: tracer))
            ).serving { client in
                let response = try await client.get("/api/users", fields)
                #expect(response.status == .ok)
            }
        }
        let name = try #require(HeaderField.Name("traceparent"))
        return upstream.requests.compactMap { $0.headerFields[name] }
    }

    @Test func spanOfTheUpstreamIsAChildOfThatOfTheClient() async throws {
        let sent = try await trace([.init("traceparent")!: field, .requestID: "request-1"], share: 0)
        #expect(records.messages == ["/api/users", "GET"])
        #expect(records["/api/users", "trace.id"] == "0af7651916cd43dd8448eb211c80319c")
        #expect(records["/api/users", "span.parent"] == "b7ad6b7169203331")
        #expect(records["/api/users", "span.kind"] == "server")
        #expect(records["/api/users", "span.status"] == nil)
        #expect(records["/api/users", "http.response.status_code"] == "200")
        #expect(records["/api/users", "request.id"] == "request-1")
        #expect(records["GET", "trace.id"] == "0af7651916cd43dd8448eb211c80319c")
        #expect(records["GET", "span.parent"] == records["/api/users", "span.id"])
        #expect(records["GET", "span.kind"] == "client")
        #expect(sent.map { TraceContext(field: $0)?.span } == [records["GET", "span.id"]])
    }

    @Test func failedRequestIsAnError() async throws {
        let tracer = SpanLog(share: 1, logger: records.logger)
        let upstream = StubDataFetcher { request throws(FetchError) in
            throw FetchError(DataResponse(status: 500), to: request)
        }
        try await withTracer(tracer) {
            var settings = ServiceSettings()
            settings.traceShare = 1
            try await FeedStage(settings, dataFetcher: upstream).serving { client in
                let response = try await client.get("/api/feed?q=secret", [.userAgent: "a\u{202E}b"])
                #expect(response.status == .serviceUnavailable)
            }
        }
        #expect(records["/api/feed", "span.status"] == "error")
        #expect(records["/api/feed", "user_agent.original"] == #"a\u{202E}b"#)
        #expect(records["/api/feed", "url.query"] == nil)
    }

    @Test func shareOfTheOtherTracesIsRecorded() async throws {
        let unrecorded = try await trace(share: 0)
        #expect(records.messages.isEmpty)
        // The upstream learns that the trace is not recorded.
        #expect(unrecorded.map { $0.suffix(3) } == ["-00"])
        _ = try await trace(share: 1)
        #expect(records.messages == ["/api/users", "GET"])
        #expect(records["/api/users", "span.parent"] == nil)
    }

    @Test func spanIsLoggedOnceWithItsDuration() {
        let span = SpanLog(share: 1, logger: records.logger).startSpan("work", at: Instant(1_000_000))
        #expect(span.isRecording)
        span.attributes["count"] = 3
        span.recordError(SettingError("secret", "secret"))
        span.setStatus(SpanStatus(code: .error))
        span.end(at: Instant(3_500_000))
        #expect(!span.isRecording)
        span.end(at: Instant(9_000_000))
        #expect(records["work", "span.milliseconds"] == "2.5")
        #expect(records["work", "count"] == "3")
        #expect(records["work", "error.type"] == "SettingError")
        #expect(records["work", "span.status"] == "error")
    }

    @Test func spanThatEndsBeforeItBeganTookNoTime() {
        SpanLog(share: 1, logger: records.logger).startSpan("work", at: Instant(2)).end(at: Instant(1))
        #expect(records["work", "span.milliseconds"] == "0.0")
    }

    private struct Instant: TracerInstant {
        let nanosecondsSinceEpoch: UInt64

        init(_ nanoseconds: UInt64) { nanosecondsSinceEpoch = nanoseconds }

        static func < (left: Instant, right: Instant) -> Bool {
            left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
        }
    }
}
