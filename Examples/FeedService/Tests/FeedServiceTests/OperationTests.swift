import CoreMetrics
import Entities
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Logging
import NIOCore
import Synchronization
import Testing
import UseCases

@testable import FeedService

struct PrometheusMetricsTests {
    private let metrics = PrometheusMetrics()

    private func lines(of name: String) -> [String] {
        metrics.text.split(separator: "\n").map(String.init).filter { $0.contains(name) }
    }

    @Test func countersAndGaugesHaveOneLineForEachSetOfLabels() {
        let factory: any MetricsFactory = metrics
        Counter(label: "feed.reads", dimensions: [("kind", "page")], factory: factory).increment(by: 2)
        Counter(label: "feed.reads", dimensions: [("kind", "api")], factory: factory).increment()
        Counter(label: "feed.reads", dimensions: [("kind", "page")], factory: factory).increment()
        Meter(label: "feed-open", factory: factory).set(7)
        #expect(
            lines(of: "feed_reads") == [
                "# TYPE feed_reads_total counter", "feed_reads_total{kind=\"api\"} 1.0",
                "feed_reads_total{kind=\"page\"} 3.0",
            ]
        )
        #expect(lines(of: "feed_open") == ["# TYPE feed_open gauge", "feed_open 7.0"])
    }

    @Test func timersAreCumulativeHistogramsInSeconds() {
        let timer = CoreMetrics.Timer(label: "feed.duration", dimensions: [("path", "/")], factory: metrics)
        for milliseconds in [1, 20, 20, 60_000] { timer.recordMilliseconds(milliseconds) }
        let lines = lines(of: "feed_duration_seconds")
        #expect(lines.first == "# TYPE feed_duration_seconds histogram")
        #expect(lines.contains("feed_duration_seconds_bucket{path=\"/\",le=\"0.001\"} 1"))
        #expect(lines.contains("feed_duration_seconds_bucket{path=\"/\",le=\"0.01\"} 1"))
        #expect(lines.contains("feed_duration_seconds_bucket{path=\"/\",le=\"0.025\"} 3"))
        #expect(lines.contains("feed_duration_seconds_bucket{path=\"/\",le=\"30.0\"} 3"))
        #expect(lines.contains("feed_duration_seconds_bucket{path=\"/\",le=\"+Inf\"} 4"))
        #expect(lines.contains("feed_duration_seconds_sum{path=\"/\"} 60.041"))
        #expect(lines.contains("feed_duration_seconds_count{path=\"/\"} 4"))
    }

    @Test func textFromOutsideCannotBreakTheFormat() {
        let dimensions = [("a-b", "x\"\\\ny")]
        Counter(label: "1 bad/näme", dimensions: dimensions, factory: metrics).increment()
        #expect(lines(of: "_1_bad_n_me_total{").first == #"_1_bad_n_me_total{a_b="x\"\\\ny"} 1.0"#)
    }

    @Test func numberOfSeriesIsLimited() {
        for number in 0..<5_010 {
            Counter(label: "feed.reads", dimensions: [("n", "\(number)")], factory: metrics).increment()
        }
        #expect(lines(of: "feed_reads_total{").count == 5_000)
        #expect(metrics.text.contains("\nmetrics_dropped_instruments_total 10\n"))
    }

    @Test func metricOfAnotherKindWithTheSameNameIsDropped() {
        Meter(label: "feed", factory: metrics).set(7)
        Recorder(label: "feed", factory: metrics).record(1)
        #expect(lines(of: "feed") == ["# TYPE feed gauge", "feed 7.0"])
        #expect(metrics.text.contains("\nmetrics_dropped_instruments_total 1\n"))
    }
}

struct RequestMetricsMiddlewareTests {
    @Test func headRequestsAreCountedAndDoNotStayInFlight() async throws {
        let metrics = PrometheusMetrics()
        let router = Router(context: FeedRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestMetricsMiddleware(factory: metrics))
        router.get("text") { _, _ in "Text" }
        try await Application(router: router).test(.router) { client in
            for _ in 1...2 {
                let response = try await client.execute(uri: "/text", method: .head)
                #expect(response.status == .ok)
            }
        }
        let labels = #"{http_route="/text",http_request_method="HEAD",http_response_status_code="200"}"#
        #expect(metrics.text.contains("hb_requests_total\(labels) 2.0"))
        #expect(metrics.text.contains("http_server_request_duration_seconds_count\(labels) 2"))
        #expect(!metrics.text.contains("active_requests"))
    }
}

@Suite(.timeLimit(.minutes(5)))
struct LoadSheddingTests {
    private let clock = ManualClock()

    @Test func requestsAboveTheLimitAreRefusedAtOnce() async throws {
        let (begun, end) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let upstream = StubDataFetcher { request throws(FetchError) in
            await begun.arrive()
            await end.arrive()
            return try await SampleDataFetcher().fetch(request)
        }
        var settings = ServiceSettings()
        settings.concurrentRequests = 1
        try await FeedStage(settings, dataFetcher: upstream).serving { client in
            async let first = client.get("/api/users")
            await begun.arrive()
            let second = try await client.get("/api/users/7")
            #expect(try second.problem(503).contains("Try again later"))
            #expect(second.headers[.retryAfter] == "1")
            // Otherwise, the process would be restarted because of the load.
            #expect(try await client.get("/healthz").status == .ok)
            #expect(try await client.get("/readyz").status == .ok)
            await end.arrive()
            _ = try await first
            #expect(try await client.get("/posts/new").status == .ok)
        }
    }

    @Test func userWhoSendsTooManyRequestsHasToWait() async throws {
        var settings = ServiceSettings()
        settings.requestsPerSecond = 2
        try await FeedStage(settings, clock: clock).serving { client in
            let users = try await client.get("/api/users").object["users"] as? [[String: Any]]
            let names = try #require(users?.compactMap { $0["username"] as? String })
            var tokens: [HTTPFields] = []
            for name in names.prefix(2) {
                let response = try await client.send(.post, "/api/session", #"{"user": "\#(name)"}"#)
                let token = try #require(try response.object["token"] as? String)
                tokens.append([.authorization: "Bearer \(token)"])
            }
            for _ in 1...4 { #expect(try await client.get("/api/session", tokens[0]).status == .ok) }
            let refused = try await client.get("/api/session", tokens[0])
            #expect(try refused.problem(429).contains("Wait"))
            #expect(refused.headers[.retryAfter] == "1")
            // Neither other users nor guests have to wait.
            #expect(try await client.get("/api/session", tokens[1]).status == .ok)
            #expect(try await client.get("/api/users").status == .ok)
            clock.advance(by: .milliseconds(500))
            #expect(try await client.get("/api/session", tokens[0]).status == .ok)
            #expect(try await client.get("/api/session", tokens[0]).status == .tooManyRequests)
        }
    }
}

/// The server for operators.
@Suite(.timeLimit(.minutes(5)))
struct OperatorServerTests {
    private let metrics = PrometheusMetrics()
    /// Fulfilled when the upstream has refused a write for the first and the second time, and the store has kept it.
    private let refusals = [Promise<Void>(), Promise<Void>()]
    private let numbers = Numbers()

    private final class Numbers: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    /// Runs a test with a service and the server for its operators. Without another upstream, that of the service refuses posts.
    private func withOperators(
        _ dataFetcher: (any DataFetcher)? = nil,
        _ test: @Sendable (any TestClientProtocol, FeedApp) async throws -> Void
    ) async throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = ServiceSettings()
        settings.store = .directory(directory.path)
        let sample = SampleDataFetcher()
        let refusing = StubDataFetcher { request throws(FetchError) in
            request.method == .post ? DataResponse(status: 422) : try await sample.fetch(request)
        }
        let errorHandler = IgnoringErrorHandler().notifying { [refusals, numbers] error in
            guard error is RefusedWriteError else { return }
            let place = numbers.next()
            if place < refusals.count { refusals[place].fulfill(()) }
        }
        let app = try await FeedApp(settings, dataFetcher: dataFetcher ?? refusing, errorHandler: errorHandler)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = OperatorServer(app, settings, metrics)
        try await server.application(logger: logger).test(.router) { try await test($0, app) }
        try await app.scope.close()
    }

    /// Publishes a post that the upstream refuses, and returns the identifier of its dead letter.
    private func refusedPost(_ app: FeedApp) async throws -> String {
        _ = try await app.withReader(for: .guest) { reader in
            try await reader.publishPost(title: "<Letters>", body: "On the engine.", by: User.ID(7))
        }
        _ = await refusals[0].value()
        return try #require(try await app.scope.outboxes().first?.contents.deadLetters.first).id
    }

    /// Returns the value of a gauge of the outboxes, as the metrics show it.
    private func gauge(_ name: String, _ client: any TestClientProtocol) async throws -> Double? {
        let text = String(buffer: try await client.get("/metrics").body)
        let line = text.split(separator: "\n").first { $0.hasPrefix("inward_outbox_\(name) ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }

    private func send(
        _ client: any TestClientProtocol,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ form: String = "",
        _ fields: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields = fields
        fields[.contentType] = "application/x-www-form-urlencoded"
        return try await client.execute(uri: path, method: method, headers: fields, body: ByteBuffer(string: form))
    }

    @Test func refusedWriteIsShownAndDiscarded() async throws {
        try await withOperators { client, app in
            let id = try await refusedPost(app)
            let page = String(buffer: try await client.get("/outbox").body)
            #expect(page.contains("Guest “all guests”") && page.contains("0 pending, 1 refused."))
            #expect(page.contains("&lt;Letters&gt;") && !page.contains("<Letters>"))
            let discarded = try await send(client, .post, "/outbox/discard", "write=\(id)")
            #expect(discarded.status == .seeOther && discarded.headers[.location] == "/outbox")
            #expect(String(buffer: try await client.get("/outbox").body).contains("No writes are pending or refused."))
            #expect(try await send(client, .post, "/outbox/discard", "write=\(id)").status == .notFound)
        }
    }

    @Test func retriedWriteIsSentAgain() async throws {
        try await withOperators { client, app in
            let id = try await refusedPost(app)
            #expect(try await send(client, .post, "/outbox/retry", "write=\(id)").status == .seeOther)
            _ = await refusals[1].value()
            // A retried write has another identifier.
            for other in ["other", id] {
                let response = try await send(client, .post, "/outbox/retry", "write=\(other)")
                #expect(try response.problem(404).contains("delivered, retried or discarded"))
            }
        }
    }

    /// The change of a post that was never created has no address, so it cannot be sent alone.
    @Test(arguments: [0, 1]) func refusedPostIsSentAgainTogetherWithItsChange(place: Int) async throws {
        let (answer, changed) = (Promise<Void>(), Promise<Void>())
        let sample = SampleDataFetcher()
        let posts = Numbers()
        let upstream = StubDataFetcher { request throws(FetchError) in
            if request.method == .post, posts.next() == 0 {
                _ = await answer.value()
                return DataResponse(status: 422)
            }
            let response = try await sample.fetch(request)
            if request.method == .patch { changed.fulfill(()) }
            return response
        }
        try await withOperators(upstream) { client, app in
            _ = try await app.withReader(for: .guest) { reader in
                let post = try await reader.publishPost(title: "<Letters>", body: "On the engine.", by: User.ID(7))
                return try await reader.editPost(post.value.id, body: "On the inventor.")
            }
            answer.fulfill(())
            for refusal in refusals { _ = await refusal.value() }
            let page = String(buffer: try await client.get("/outbox").body)
            #expect(page.contains("0 pending, 2 refused.") && page.contains("PATCH &lt;Letters&gt;"))
            let letters = try #require(try await app.scope.outboxes().first?.contents.deadLetters)
            try #require(letters.count == 2)
            let retried = try await send(client, .post, "/outbox/retry", "write=\(letters[place].id)")
            #expect(retried.status == .seeOther)
            _ = await changed.value()
            let rest = try await app.scope.outboxes().flatMap(\.contents.deadLetters)
            #expect(rest.isEmpty)
            let list = try await sample.fetchData(from: SampleDataFetcher.baseURL.appending(path: "posts"))
            #expect(String(decoding: list, as: UTF8.self).contains("On the inventor."))
        }
    }

    @Test func pageOfAnotherSiteCannotChangeAnything() async throws {
        try await withOperators { client, app in
            let id = try await refusedPost(app)
            let fields: HTTPFields = [.origin: "https://evil.test"]
            #expect(try await send(client, .post, "/outbox/discard", "write=\(id)", fields).status == .forbidden)
            #expect(try await app.scope.outboxes().count == 1)
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1:8081", nil, true), ("localhost", nil, true), ("LOCALHOST:1", nil, true),
            ("[::1]:8081", nil, true),
            ("127.0.0.1:8081", "http://127.0.0.1:8081", true), ("127.0.0.1:8081", "http://127.0.0.1:8082", false),
            ("127.0.0.1:8081", "null", false), ("evil.test", nil, false),
            ("evil.test:8081", "http://evil.test:8081", false),
            ("localhost@evil.test", nil, false), ("localhost.evil.test", nil, false), ("[::1", nil, false),
            ("", nil, false),
        ] as [(String, String?, Bool)]
    )
    func onlyThisMachineIsAnswered(authority: String, origin: String?, isLocal: Bool) {
        #expect(LocalRequestMiddleware<BasicRequestContext>.isLocal(authority, origin: origin) == isLocal)
    }

    @Test func metricsAreShown() async throws {
        Counter(label: "feed.reads", factory: metrics).increment()
        try await withOperators { client, _ in
            let response = try await client.get("/metrics")
            #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(String(buffer: response.body).contains("feed_reads_total 1.0\n"))
        }
    }

    @Test func writesOfAllUsersAreMeasured() async throws {
        let answers = [Promise<Void>(), Promise<Void>()]
        let sample = SampleDataFetcher()
        let posts = Numbers()
        let upstream = StubDataFetcher { request throws(FetchError) in
            guard request.method == .post else { return try await sample.fetch(request) }
            let place = posts.next()
            if place < answers.count { _ = await answers[place].value() }
            return DataResponse(status: 422)
        }
        try await withOperators(upstream) { client, app in
            let none = try await gauge("pending", client)
            #expect(none == 0)
            for visitor in [Visitor.guest, .user("ada", signIn: "sign-in")] {
                _ = try await app.withReader(for: visitor) { reader in
                    let title = visitor == .guest ? "Letters" : "Notes"
                    return try await reader.publishPost(title: title, body: "On the engine.", by: User.ID(7))
                }
            }
            let (pending, unrefused) = (try await gauge("pending", client), try await gauge("dead_letters", client))
            #expect(pending == 2 && unrefused == 0)
            let outboxes = try await app.scope.outboxes()
            let oldest = try #require(outboxes.compactMap(\.status.oldestAcceptedAt).min())
            OutboxGauges(metrics).show(outboxes, at: oldest.addingTimeInterval(60))
            #expect(metrics.text.contains("\ninward_outbox_oldest_age 60.0"))
            for answer in answers { answer.fulfill(()) }
            for refusal in refusals { _ = await refusal.value() }
            let (rest, refused) = (try await gauge("pending", client), try await gauge("dead_letters", client))
            #expect(rest == 0 && refused == 2)
            let age = try await gauge("oldest_age", client)
            #expect(age == 0)
        }
    }

    @Test func outboxesThatCannotBeReadAreNotMeasured() {
        let gauges = OutboxGauges(metrics)
        gauges.show([], at: Date())
        #expect(metrics.text.contains("inward_outbox_pending 0.0\n"))
        gauges.show(nil, at: Date())
        for name in ["pending", "dead_letters", "oldest_age"] {
            #expect(metrics.text.contains("inward_outbox_\(name) NaN\n"))
        }
    }
}
