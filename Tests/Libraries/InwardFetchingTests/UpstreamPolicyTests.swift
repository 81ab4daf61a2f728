import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UpstreamPolicyTests {
    private let clock = ManualClock()
    private let request: DataRequest

    init() throws {
        request = try .example("http://upstream.test/users")
    }

    /// Returns the pipeline of a policy around a client.
    private func pipeline(
        _ policy: UpstreamPolicy,
        _ client: any DataFetcher,
        breaker: CircuitBreaker? = nil,
        timer: TimerService
    ) -> any DataFetcher {
        client.protecting(by: policy, breaker: breaker, timer: timer)
    }

    @Test func layersAreInOrderWithoutWarnings() throws {
        let policy = try UpstreamPolicy(requestsPerSecond: 5, deadlineField: HeaderField.Name("X-Time-Left"))
        let pipeline = pipeline(policy, StubDataFetcher(DataResponse()), timer: TimerService(clock)).pipeline
        #expect(
            pipeline.layers.map(\.kind) == [
                .coalescing, .timeout, .retry, .circuitBreaker, .rateLimit, .concurrencyLimit, .timeout,
                .deadlineNotice,
            ]
        )
        #expect(pipeline.warnings == [])
    }

    /// As documented for each property.
    @Test func standardPolicyHasItsDocumentedValues() throws {
        let policy = UpstreamPolicy.standard
        #expect(policy.attemptTimeLimit == .seconds(5) && policy.requestTimeLimit == .seconds(20))
        #expect(policy.attempts == 3 && policy.retryShare == 0.2)
        #expect(policy.concurrency == 64 && policy.queue == 256 && policy.requestsPerSecond == nil)
        #expect(policy.failureRateThreshold == 0.5 && policy.openDuration == .seconds(10))
        #expect(policy.deadlineField == nil)
        #expect(try UpstreamPolicy() == policy)
    }

    @Test func failedRequestsAreRetried() async throws {
        let timer = TimerService(clock)
        let client = ScriptedDataFetcher([.answer(DataResponse(status: 503)), .answer(DataResponse())])
        let fetcher = pipeline(.standard, client, timer: timer)
        async let answer = fetcher.fetch(request)
        // One timer is for the wait between the attempts, and one is for the time limit of the request.
        await timer.timers(2)
        clock.advance(by: .seconds(1))
        #expect(try await answer.status == .ok)
    }

    @Test func attemptsAreLimitedByThePolicy() async throws {
        let client = ScriptedDataFetcher([.answer(DataResponse(status: 503)), .answer(DataResponse())])
        let fetcher = try pipeline(UpstreamPolicy(attempts: 1), client, timer: TimerService(clock))
        let response = try await fetcher.fetch(request)
        #expect(response.status == 503)
        #expect(response.retries == RetryReport(attempts: 1, ending: "the maximum"))
    }

    @Test func nothingIsRetriedWithoutARetryShare() async throws {
        let client = ScriptedDataFetcher([.answer(DataResponse(status: 503)), .answer(DataResponse())])
        let fetcher = try pipeline(UpstreamPolicy(retryShare: 0), client, timer: TimerService(clock))
        let response = try await fetcher.fetch(request)
        #expect(response.retries == RetryReport(attempts: 1, ending: "the retry budget is used up"))
    }

    @Test func failingUpstreamOpensTheCircuit() async throws {
        let timer = TimerService(clock)
        let client = RecordingDataFetcher(StubDataFetcher(failing: .interrupted))
        let policy = try UpstreamPolicy(attempts: 1, openDuration: .seconds(7))
        let breaker = policy.makeCircuitBreaker("upstream", timer: timer)
        let fetcher = pipeline(policy, client, breaker: breaker, timer: timer)
        for _ in 0..<20 { await #expect(throws: FetchError.self) { try await fetcher.fetch(request) } }
        #expect(client.requests.count == 10)
        #expect(breaker.state == .open(remaining: .seconds(7)))
    }

    @Test func requestsBeyondTheQueueAreRejected() async throws {
        let timer = TimerService(clock)
        let isBegun = Promise<Void>()
        let isReleased = Promise<Void>()
        let client = StubDataFetcher { _ throws(FetchError) in
            isBegun.fulfill(())
            _ = await isReleased.value()
            return DataResponse()
        }
        let fetcher = try pipeline(UpstreamPolicy(attempts: 1, concurrency: 1, queue: 0), client, timer: timer)
        async let first = fetcher.fetch(request)
        _ = await isBegun.value()
        let other = try DataRequest.example("http://upstream.test/users/7")
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(other) }
        #expect(error?.reason == .rejected)
        isReleased.fulfill(())
        #expect(try await first.status == .ok)
    }

    @Test(arguments: [true, false])
    func attemptsAndRequestsHaveTheirTimeLimits(isAttempt: Bool) async throws {
        let timer = TimerService(clock)
        let nowhere = Rendezvous(of: 2)
        let client = StubDataFetcher { request throws(FetchError) in
            await nowhere.arrive()
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let policy = try UpstreamPolicy(
            attemptTimeLimit: .seconds(isAttempt ? 2 : 9),
            requestTimeLimit: .seconds(isAttempt ? 9 : 3),
            attempts: 1
        )
        let fetcher = pipeline(policy, client, timer: timer)
        async let answer = fetcher.fetch(request)
        await timer.timers(1)
        clock.advance(by: .seconds(isAttempt ? 2 : 3))
        do {
            _ = try await answer
            Issue.record("The request was answered.")
        } catch let error as FetchError {
            #expect(error.reason == .timedOut)
            #expect(error.explanation.hasPrefix("was not answered within \(isAttempt ? 2 : 3).0 seconds"))
        }
    }

    @Test func remainingTimeIsSentToTheUpstream() async throws {
        let name = try #require(HeaderField.Name("X-Time-Left"))
        let client = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let policy = try UpstreamPolicy(attemptTimeLimit: .seconds(4), deadlineField: name)
        _ = try await pipeline(policy, client, timer: TimerService(clock)).fetch(request)
        #expect(client.requests.map { $0.headerFields[name] } == ["4000"])
    }

    @Test func requestsPerSecondAreLimited() async throws {
        let timer = TimerService(clock)
        let client = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = try pipeline(UpstreamPolicy(requestsPerSecond: 2), client, timer: timer)
        for _ in 0..<2 { _ = try await fetcher.fetch(request) }
        async let third = fetcher.fetch(request)
        await timer.timers(1)
        #expect(client.requests.count == 2)
        clock.advance(by: .milliseconds(500))
        #expect(try await third.status == .ok)
    }

    @Test func invalidNumbersAreErrors() {
        func complaint(_ make: () throws -> UpstreamPolicy) -> String? {
            #expect(throws: UpstreamPolicyError.self) { try make() }?.description
        }
        #expect(
            complaint { try UpstreamPolicy(attemptTimeLimit: .zero) }
                == "The time limit of an attempt must be greater than zero."
        )
        #expect(
            complaint { try UpstreamPolicy(requestTimeLimit: .zero) }
                == "The time limit of a request must be greater than zero."
        )
        #expect(complaint { try UpstreamPolicy(attempts: 0) } == "The number of attempts must be at least 1.")
        for share in [-0.1, 1.1, .nan] {
            #expect(
                complaint { try UpstreamPolicy(retryShare: share) }
                    == "The retry share must be from 0 to 1."
            )
        }
        #expect(
            complaint { try UpstreamPolicy(concurrency: 0) } == "The concurrency must be at least 1."
        )
        #expect(complaint { try UpstreamPolicy(queue: -1) } == "The queue must be at least 0.")
        #expect(
            complaint { try UpstreamPolicy(requestsPerSecond: 0) }
                == "The number of requests per second must be at least 1."
        )
        for share in [0, 1.1, .nan] {
            #expect(
                complaint { try UpstreamPolicy(failureRateThreshold: share) }
                    == "The failure rate threshold must be from 0.01 to 1."
            )
        }
        #expect(
            complaint { try UpstreamPolicy(openDuration: .zero) }
                == "The open duration must be greater than zero."
        )
    }
}
