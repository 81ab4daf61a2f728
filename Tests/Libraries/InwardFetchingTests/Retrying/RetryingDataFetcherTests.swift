import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RetryingDataFetcherTests {
    private static let post = DataRequest.Method.post
    private let log = RetryLog()
    private let date = Date(timeIntervalSince1970: 784_111_777)

    private func answer(_ code: Int, _ fields: HeaderField...) -> ScriptedDataFetcher.Step {
        .answer(DataResponse(status: .init(code), headerFields: HeaderFields(fields)))
    }

    private func outcome(
        of source: some DataFetcher,
        to request: DataRequest,
        policy: RetryPolicy = RetryPolicy(baseDelay: .zero)
    ) async -> Result<DataResponse, FetchError> {
        let timer = TimerService(ManualClock())
        let fetcher = source.retrying(policy, timer: timer, now: { [date] in date }).observing(with: log, timer: timer)
        return await Result(awaiting: { () async throws(FetchError) in try await fetcher.fetch(request) })
    }

    @Test func successesAreReturnedWithoutAReport() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([answer(204)]))
        let outcome = await outcome(of: source, to: try .example())
        #expect(outcome == .success(DataResponse(status: 204)))
        #expect(source.requests.map(\.attempt) == [1])
        #expect(log.entries.isEmpty)
    }

    @Test func failedRequestsAreRetriedUntilTheySucceed() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.timedOut), answer(503), answer(200)]))
        let request = try DataRequest.example()
        let outcome = await outcome(of: source, to: request)
        #expect(outcome == .success(DataResponse()))
        #expect(source.requests.map(\.attempt) == [1, 2, 3])
        #expect(log.entries.map(\.attempt) == [2, 3])
        #expect(log.entries.last?.outcome == .success(DataResponse(status: 503)))
        #expect(source.requests == [request, request, request])
    }

    // A pooled connection that the server closes at that moment: issue 715 of async-http-client.
    @Test func readsOnClosedConnectionsAreRetried() async throws {
        let outcome = await outcome(of: ScriptedDataFetcher([.failure(.interrupted), answer(200)]), to: try .example())
        #expect(outcome == .success(DataResponse()))
    }

    // The maximum number of attempts, each after its own wait: issue 97 of kean/Get.
    @Test func lastResponseReportsTheAttempts() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let policy = RetryPolicy(attempts: 4, baseDelay: .nanoseconds(8), jitter: Jitter { 0 })
        let response = try await outcome(of: source, to: try .example(), policy: policy).get()
        #expect(response.retries == RetryReport(attempts: 4, ending: "the maximum"))
        #expect(source.requests.count == 4)
        let words =
            "GET http://upstream.test/users was answered with 503 Service Unavailable (4 attempts, the maximum)"
        #expect(FetchError(response, to: try .example()).description == words)
    }

    @Test func lastErrorReportsTheAttempts() async throws {
        let outcome = await outcome(of: StubDataFetcher(failing: .unreachable), to: try .example())
        let error = try #require(outcome.failure)
        #expect(error.reason == .unreachable)
        #expect(error.explanation == "was told to fail (3 attempts, the maximum)")
    }

    @Test(arguments: [400, 404, 304, 501])
    func permanentStatusesAreReturnedUnchanged(code: Int) async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .init(code))))
        let outcome = await outcome(of: source, to: try .example())
        #expect(outcome == .success(DataResponse(status: .init(code))))
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [FetchError.Reason.cancelled, .closed, .rejected, .invalidRequest, .untrusted])
    func permanentErrorsAreThrownUnchanged(reason: FetchError.Reason) async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: reason))
        let error = await outcome(of: source, to: try .example()).failure
        #expect(error == FetchError(reason, request: try .example(), explanation: "was told to fail"))
        #expect(source.requests.count == 1)
    }

    @Test func permanentOutcomeAfterARetryReportsTheAttempts() async throws {
        let answered = await outcome(of: ScriptedDataFetcher([answer(503), answer(404)]), to: try .example())
        #expect(try answered.get().status == .notFound)
        #expect(try answered.get().retries == RetryReport(attempts: 2, ending: "this outcome is not retried"))
        let failed = await outcome(of: ScriptedDataFetcher([answer(503), .failure(.closed)]), to: try .example())
        #expect(failed.failure?.reason == .closed)
        #expect(failed.failure?.retries == RetryReport(attempts: 2, ending: "this outcome is not retried"))
    }

    @Test func postIsNotRetriedAndReportsWhy() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: .interrupted))
        let error = await outcome(of: source, to: try .example(method: Self.post)).failure
        #expect(error?.retries == RetryReport(attempts: 1, ending: "it is not safe to repeat"))
        #expect(source.requests.count == 1)
    }

    @Test func postThatDidNotReachTheUpstreamIsRetried() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.unreachable), answer(503), answer(200)]))
        let response = try await outcome(of: source, to: try .example(method: Self.post)).get()
        #expect(response.status == 503)
        #expect(response.retries == RetryReport(attempts: 2, ending: "it is not safe to repeat"))
        #expect(source.requests.count == 2)
    }

    @Test func postWithAnIdempotencyKeyIsRetriedWithTheSameKey() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.interrupted), answer(201)]))
        let request = try DataRequest.example(
            method: Self.post,
            headerFields: [HeaderField(.idempotencyKey, "k7")],
            body: Data("x".utf8)
        )
        #expect(try await outcome(of: source, to: request).get().status == .created)
        #expect(source.requests == [request, request])
    }

    // The decision sees the request: issue 22 of kean/Get.
    @Test(
        arguments: [
            (.failure(.rejected), .timedOut), (.failure(.unreachable), .timedOut), (.failure(.untrusted), .timedOut),
            (.answer(DataResponse(status: 429)), .timedOut), (.answer(DataResponse(status: 401)), .timedOut),
            (.failure(.interrupted), .interrupted),
            // A client error says nothing about an earlier attempt, which may still be under way.
            (.answer(DataResponse(status: 409)), .timedOut), (.answer(DataResponse(status: 404)), .timedOut),
            // These are uncertain themselves, or settle the outcome.
            (.answer(DataResponse(status: 503)), nil), (.answer(DataResponse(status: 500)), nil),
            (.answer(DataResponse(status: 204)), nil),
        ] as [(ScriptedDataFetcher.Step, FetchError.Reason?)]
    )
    func uncertainWriteIsReportedDespiteLaterOutcomes(
        last: ScriptedDataFetcher.Step,
        reason: FetchError.Reason?
    ) async throws {
        let source = ScriptedDataFetcher([.failure(.timedOut), last, last])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.reason == reason)
        #expect(reason == nil || outcome.failure?.retries != nil)
        // A read has no uncertain effect, so the last outcome counts.
        let read = await self.outcome(of: ScriptedDataFetcher([.failure(.timedOut), last, last]), to: try .example())
        #expect(read != .failure(FetchError(.timedOut, request: try .example(), explanation: "")))
        #expect(read.failure?.reason != .timedOut)
    }

    @Test func laterAttemptsCanBeUncertainToo() async throws {
        let source = ScriptedDataFetcher([.failure(.unreachable), .failure(.timedOut), .failure(.unreachable)])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.reason == .timedOut)
    }

    /// A gateway sends these when it has lost an upstream that may have made the change.
    @Test(arguments: [500, 502, 503, 504])
    func gatewayErrorsLeaveAWriteUncertain(code: Int) async throws {
        let source = ScriptedDataFetcher([answer(code), .failure(.unreachable), .failure(.unreachable)])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.status?.code == code)
        let conflicting = ScriptedDataFetcher([answer(code), answer(409)])
        let refused = await self.outcome(of: conflicting, to: try .example(method: .put))
        #expect(refused.failure?.status?.code == code)
    }

    @Test func requestsMarkedToBeSentOnceAreNotRetried() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.unreachable), answer(503), answer(200)]))
        var request = try DataRequest.example(headerFields: [HeaderField(.idempotencyKey, "k7")])
        request.isSentOnce = true
        #expect(await outcome(of: source, to: request).failure?.reason == .unreachable)
        #expect(try await outcome(of: source, to: request).get().status == 503)
        #expect(source.requests.count == 2)
        #expect(log.entries.isEmpty)
        // The flag does not affect equality.
        var other = request
        other.isSentOnce = false
        #expect(request == other && request.hashValue == other.hashValue)
    }

    @Test func repeatabilityIsConfigurable() async throws {
        let policy = RetryPolicy(baseDelay: .zero) { $0.url.lastPathComponent == "search" }
        let search = try DataRequest.example("http://upstream.test/search", method: Self.post)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        _ = await outcome(of: source, to: search, policy: policy)
        #expect(source.requests.count == 3)
        _ = await outcome(of: source, to: try .example(), policy: policy)
        #expect(source.requests.count == 4)
    }

    @Test func attemptNumbersContinueFromTheRequest() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        var request = try DataRequest.example()
        request.attempt = 5
        let response = try await outcome(of: source, to: request).get()
        #expect(source.requests.map(\.attempt) == [5, 6, 7])
        #expect(response.retries?.attempts == 3)
    }

    @Test(arguments: [
        ("31", "the upstream asked to wait 31 seconds"), ("120", "the upstream asked to wait 120 seconds"),
        // The date of these tests is 08:49:37.
        ("Sun, 06 Nov 1994 08:51:37 GMT", "the upstream asked to wait 120 seconds"),
    ])
    func longRetryAfterEndsTheRetries(retryAfter: String, ending: String) async throws {
        let source = RecordingDataFetcher(
            StubDataFetcher { _ throws(FetchError) in
                DataResponse(status: 429, headerFields: [HeaderField(.retryAfter, retryAfter)])
            }
        )
        let response = try await outcome(of: source, to: try .example()).get()
        #expect(response.retries == RetryReport(attempts: 1, ending: ending))
        #expect(source.requests.count == 1)
        #expect(log.entries.isEmpty)
    }

    @Test(arguments: ["soon", "-1", "", "Sun, 06 Nov 1994 08:49:07 GMT", "0"])
    func invalidRetryAfterIsIgnored(retryAfter: String) async throws {
        let outcome = await outcome(
            of: ScriptedDataFetcher([answer(503, HeaderField(.retryAfter, retryAfter)), answer(200)]),
            to: try .example()
        )
        #expect(outcome == .success(DataResponse()))
        #expect(log.entries.map(\.delay) == [.zero])
    }

    @Test func layerDescriptionNamesTheNumberOfAttempts() {
        let source = StubDataFetcher(DataResponse())
        #expect(source.retrying(.standard).layer == DataFetcherLayer(.retry, "tries up to 3 times"))
        #expect(source.retrying(RetryPolicy(attempts: 1)).layer == DataFetcherLayer(.retry, "tries once"))
        #expect(!source.retrying(.standard).honorsDeadlines)
    }
}
