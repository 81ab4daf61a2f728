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

    @Test func aSuccessIsGivenAtOnceAndSaysNothing() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([answer(204)]))
        let outcome = await outcome(of: source, to: try .example())
        #expect(outcome == .success(DataResponse(status: 204)))
        #expect(source.requests.map(\.attempt) == [1])
        #expect(log.entries.isEmpty)
    }

    @Test func whatFailedIsTriedAgainUntilItSucceeds() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.timedOut), answer(503), answer(200)]))
        let request = try DataRequest.example()
        let outcome = await outcome(of: source, to: request)
        #expect(outcome == .success(DataResponse()))
        #expect(source.requests.map(\.attempt) == [1, 2, 3])
        #expect(log.entries.map(\.attempt) == [2, 3])
        #expect(log.entries.last?.outcome == .success(DataResponse(status: 503)))
        #expect(source.requests == [request, request, request])
    }

    // A pooled connection that its other end closes just then: async-http-client's issue 715.
    @Test func aReadWhoseConnectionWasClosedIsTriedAgain() async throws {
        let outcome = await outcome(of: ScriptedDataFetcher([.failure(.interrupted), answer(200)]), to: try .example())
        #expect(outcome == .success(DataResponse()))
    }

    // As many as allowed, and each behind its own wait: issue 97 of kean/Get.
    @Test func theLastAnswerSaysHowOftenItWasTried() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let policy = RetryPolicy(attempts: 4, baseDelay: .nanoseconds(8), jitter: Jitter { 0 })
        let response = try await outcome(of: source, to: try .example(), policy: policy).get()
        #expect(response.retries == RetryReport(attempts: 4, ending: "the most allowed"))
        #expect(source.requests.count == 4)
        let words =
            "GET http://upstream.test/users was answered with 503 Service Unavailable (4 attempts, the most allowed)"
        #expect(FetchError(response, to: try .example()).description == words)
    }

    @Test func theLastErrorSaysHowOftenItWasTried() async throws {
        let outcome = await outcome(of: StubDataFetcher(failing: .unreachable), to: try .example())
        let error = try #require(outcome.failure)
        #expect(error.reason == .unreachable)
        #expect(error.explanation == "was told to fail (3 attempts, the most allowed)")
    }

    @Test(arguments: [400, 404, 304, 501])
    func anAnswerThatNoRetryHelpsAgainstIsGivenAsItIs(code: Int) async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .init(code))))
        let outcome = await outcome(of: source, to: try .example())
        #expect(outcome == .success(DataResponse(status: .init(code))))
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [FetchError.Reason.cancelled, .closed, .rejected, .invalidRequest, .untrusted])
    func anErrorThatNoRetryHelpsAgainstIsThrownAsItIs(reason: FetchError.Reason) async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: reason))
        let error = await outcome(of: source, to: try .example()).failure
        #expect(error == FetchError(reason, request: try .example(), explanation: "was told to fail"))
        #expect(source.requests.count == 1)
    }

    @Test func aRetryThatEndsOtherwiseSaysHowOftenItWasTried() async throws {
        let answered = await outcome(of: ScriptedDataFetcher([answer(503), answer(404)]), to: try .example())
        #expect(try answered.get().status == .notFound)
        #expect(try answered.get().retries == RetryReport(attempts: 2, ending: "a retry is no help"))
        let failed = await outcome(of: ScriptedDataFetcher([answer(503), .failure(.closed)]), to: try .example())
        #expect(failed.failure?.reason == .closed)
        #expect(failed.failure?.retries == RetryReport(attempts: 2, ending: "a retry is no help"))
    }

    @Test func aPostIsNotTriedAgainAndSaysWhy() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: .interrupted))
        let error = await outcome(of: source, to: try .example(method: Self.post)).failure
        #expect(error?.retries == RetryReport(attempts: 1, ending: "it is not safe to repeat"))
        #expect(source.requests.count == 1)
    }

    @Test func aPostThatReachedNobodyIsTriedAgain() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.unreachable), answer(503), answer(200)]))
        let response = try await outcome(of: source, to: try .example(method: Self.post)).get()
        #expect(response.status == 503)
        #expect(response.retries == RetryReport(attempts: 2, ending: "it is not safe to repeat"))
        #expect(source.requests.count == 2)
    }

    @Test func aPostWithAKeyIsTriedAgainWithTheSameKey() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.interrupted), answer(201)]))
        let request = try DataRequest.example(
            method: Self.post,
            headerFields: [HeaderField(.idempotencyKey, "k7")],
            body: Data("x".utf8)
        )
        #expect(try await outcome(of: source, to: request).get().status == .created)
        #expect(source.requests == [request, request])
    }

    // Who decides sees the request: issue 22 of kean/Get.
    @Test(
        arguments: [
            (.failure(.rejected), .timedOut), (.failure(.unreachable), .timedOut), (.failure(.untrusted), .timedOut),
            (.answer(DataResponse(status: 429)), .timedOut), (.answer(DataResponse(status: 401)), .timedOut),
            (.failure(.interrupted), .interrupted),
            // A refusal says nothing of an attempt that may still be under way.
            (.answer(DataResponse(status: 409)), .timedOut), (.answer(DataResponse(status: 404)), .timedOut),
            // These leave it open themselves, or settle it.
            (.answer(DataResponse(status: 503)), nil), (.answer(DataResponse(status: 500)), nil),
            (.answer(DataResponse(status: 204)), nil),
        ] as [(ScriptedDataFetcher.Step, FetchError.Reason?)]
    )
    func aWriteThatMayHaveBeenDoneIsNotForgottenOverWhatComesLater(
        last: ScriptedDataFetcher.Step,
        reason: FetchError.Reason?
    ) async throws {
        let source = ScriptedDataFetcher([.failure(.timedOut), last, last])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.reason == reason)
        #expect(reason == nil || outcome.failure?.retries != nil)
        // Nothing is open about what only reads: the last outcome says most.
        let read = await self.outcome(of: ScriptedDataFetcher([.failure(.timedOut), last, last]), to: try .example())
        #expect(read != .failure(FetchError(.timedOut, request: try .example(), explanation: "")))
        #expect(read.failure?.reason != .timedOut)
    }

    @Test func aLaterAttemptMayHaveBeenTheOneThatWasDone() async throws {
        let source = ScriptedDataFetcher([.failure(.unreachable), .failure(.timedOut), .failure(.unreachable)])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.reason == .timedOut)
    }

    /// A gateway answers so when it has lost a source that may have done the write.
    @Test(arguments: [500, 502, 503, 504])
    func aWriteThatFailedUpstreamMayHaveBeenDone(code: Int) async throws {
        let source = ScriptedDataFetcher([answer(code), .failure(.unreachable), .failure(.unreachable)])
        let outcome = await outcome(of: source, to: try .example(method: .put))
        #expect(outcome.failure?.status?.code == code)
        let conflicting = ScriptedDataFetcher([answer(code), answer(409)])
        let refused = await self.outcome(of: conflicting, to: try .example(method: .put))
        #expect(refused.failure?.status?.code == code)
    }

    @Test func whatIsSentOnceIsNotTriedAgain() async throws {
        let source = RecordingDataFetcher(ScriptedDataFetcher([.failure(.unreachable), answer(503), answer(200)]))
        var request = try DataRequest.example(headerFields: [HeaderField(.idempotencyKey, "k7")])
        request.isSentOnce = true
        #expect(await outcome(of: source, to: request).failure?.reason == .unreachable)
        #expect(try await outcome(of: source, to: request).get().status == 503)
        #expect(source.requests.count == 2)
        #expect(log.entries.isEmpty)
        // It makes no request another one.
        var other = request
        other.isSentOnce = false
        #expect(request == other && request.hashValue == other.hashValue)
    }

    @Test func whatIsSafeToRepeatCanBeChosenByTheRequest() async throws {
        let policy = RetryPolicy(baseDelay: .zero) { $0.url.lastPathComponent == "search" }
        let search = try DataRequest.example("http://upstream.test/search", method: Self.post)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        _ = await outcome(of: source, to: search, policy: policy)
        #expect(source.requests.count == 3)
        _ = await outcome(of: source, to: try .example(), policy: policy)
        #expect(source.requests.count == 4)
    }

    @Test func theNumberOfAnAttemptGoesOnFromWhereItWas() async throws {
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
    func whoAsksForALongWaitIsLeftAlone(retryAfter: String, ending: String) async throws {
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
    func aWaitThatIsNoneOrCannotBeUnderstoodIsNotAskedFor(retryAfter: String) async throws {
        let outcome = await outcome(
            of: ScriptedDataFetcher([answer(503, HeaderField(.retryAfter, retryAfter)), answer(200)]),
            to: try .example()
        )
        #expect(outcome == .success(DataResponse()))
        #expect(log.entries.map(\.delay) == [.zero])
    }

    @Test func theLayerSaysHowOftenItIsTried() {
        let source = StubDataFetcher(DataResponse())
        #expect(source.retrying(.standard).layer == DataFetcherLayer(.retry, "tries up to 3 times"))
        #expect(source.retrying(RetryPolicy(attempts: 1)).layer == DataFetcherLayer(.retry, "tries once"))
        #expect(!source.retrying(.standard).honorsDeadlines)
    }
}
