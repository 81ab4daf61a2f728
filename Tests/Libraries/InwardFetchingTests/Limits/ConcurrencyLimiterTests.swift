import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct ConcurrencyLimiterTests {
    /// Counts the concurrent requests, and their maximum.
    private final class Traffic: Sendable {
        private struct Counts {
            var now = 0
            var most = 0
        }

        private let counts = Mutex(Counts())

        var most: Int { counts.withLock(\.most) }

        func pass(yields: Int) async {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            for _ in 0..<yields { await Task.yield() }
            counts.withLock { $0.now -= 1 }
        }
    }

    private let clock = ManualClock()

    /// Returns a limiter whose waits have a timer, so that a test can wait for them to begin.
    private func limiter(_ limit: Int, waiting capacity: Int = 64, on timer: TimerService) -> ConcurrencyLimiter {
        ConcurrencyLimiter(.fixed(limit), waiting: capacity, atMost: .seconds(60), timer: timer)
    }

    /// Waits for a permit, and returns the reason if there is none.
    @MainActor private func wait(_ request: DataRequest, for limiter: ConcurrencyLimiter) async -> FetchError.Reason? {
        await Result(awaiting: { () async throws(FetchError) in try await limiter.wait(request) }).failure?.reason
    }

    // On one actor, so that no task continues before the test waits.
    @MainActor @Test func permitOfACancelledWaiterPassesToTheNext() async throws {
        let timer = TimerService(clock)
        let limiter = limiter(1, on: timer)
        let request = try DataRequest.example()
        #expect(limiter.admit())
        let first = Task { @MainActor in await wait(request, for: limiter) }
        await timer.timers(1)
        let second = Task { @MainActor in await wait(request, for: limiter) }
        await timer.timers(2)
        first.cancel()
        #expect(limiter.waiting == 2)
        limiter.release()
        #expect(await second.value == nil)
        #expect(await first.value == .cancelled)
        #expect(limiter.underWay == 1)
        #expect(limiter.waiting == 0)
        limiter.release()
        #expect(limiter.underWay == 0)
    }

    /// A waiter is late after the limiter's maximum wait of 60 seconds, or after the deadline of its task.
    @Test(arguments: [30, 90]) func lateWaitersLeaveTheQueue(seconds: Int) async throws {
        let timer = TimerService(clock)
        let limiter = limiter(1, on: timer)
        #expect(limiter.admit())
        async let late = Deadline(in: .seconds(seconds), on: timer).carried { () async throws(LimitRejection) in
            try await limiter.wait()
        }
        await timer.timers(1)
        #expect(limiter.waiting == 1)
        clock.advance(by: .seconds(60))
        #expect(await late.failure?.cause == (seconds < 60 ? .deadline : .limit))
        #expect(limiter.waiting == 0)
    }

    @MainActor @Test func permitIsFreeAfterTheOnlyWaiterIsCancelled() async throws {
        let timer = TimerService(clock)
        let limiter = limiter(1, on: timer)
        let request = try DataRequest.example()
        #expect(limiter.admit())
        let only = Task { @MainActor in await wait(request, for: limiter) }
        await timer.timers(1)
        only.cancel()
        limiter.release()
        #expect(limiter.underWay == 0)
        #expect(await only.value == .cancelled)
        #expect(limiter.admit())
    }

    @Test(arguments: 1...10)
    func noPermitIsLostOrDuplicated(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let limiter = ConcurrencyLimiter(.fixed(3), waiting: 4, atMost: .seconds(60), timer: TimerService(clock))
        let traffic = Traffic()
        let request = try DataRequest.example()
        let fetcher = StubDataFetcher { _ throws(FetchError) in
            await traffic.pass(yields: 3)
            return DataResponse()
        }.limitingConcurrency(to: limiter)
        let outcomes = await withTaskGroup { group in
            for walker in 0..<12 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(walker))
                    var outcomes: [FetchError.Reason?] = []
                    for _ in 0..<50 { outcomes.append(await Self.fetch(request, by: fetcher, &random)) }
                    return outcomes
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(traffic.most == 3, "The seed was \(seed).")
        #expect(limiter.underWay == 0, "The seed was \(seed).")
        #expect(limiter.waiting == 0, "The seed was \(seed).")
        let expected: Set<FetchError.Reason?> = [nil, .cancelled, .rejected]
        #expect(expected.isSuperset(of: outcomes), "The seed was \(seed).")
        #expect(outcomes.contains(nil), "The seed was \(seed).")
    }

    /// Fetches in a task with a priority. The task is cancelled after a while, or not at all.
    private static func fetch(
        _ request: DataRequest,
        by fetcher: some DataFetcher,
        _ random: inout SplitMix64
    ) async -> FetchError.Reason? {
        let priority = [TaskPriority.low, .medium, .high].randomElement(using: &random)
        let yields = Int.random(in: 0..<12, using: &random)
        return await withTaskGroup { group in
            group.addTask(priority: priority) {
                await Result(awaiting: { () async throws(FetchError) in try await fetcher.fetch(request) }).failure?
                    .reason
            }
            for _ in 0..<yields { await Task.yield() }
            if yields < 6 { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    @Test func pipelinesWithTheSameLimiterShareItsLimit() async throws {
        let limiter = ConcurrencyLimiter(.fixed(1), waiting: 0)
        let meeting = Rendezvous(of: 2)
        let left = Rendezvous(of: 2)
        let first = StubDataFetcher { _ throws(FetchError) in
            await meeting.arrive()
            await left.arrive()
            return DataResponse()
        }.limitingConcurrency(to: limiter)
        let second = StubDataFetcher(DataResponse()).limitingConcurrency(to: limiter)
        async let answer = first.fetch(.example())
        await meeting.arrive()
        await #expect(throws: FetchError.self) { try await second.fetch(.example()) }
        await left.arrive()
        #expect(try await answer.status == .ok)
        #expect(try await second.fetch(.example()).status == .ok)
    }

    @Test func adaptiveLimitFollowsOutcomes() async throws {
        let timer = TimerService(clock)
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 50), timer: timer)
        let failing = StubDataFetcher { [clock] request throws(FetchError) in
            clock.advance(by: .seconds(1))
            throw FetchError(.timedOut, request: request, explanation: "was told to fail")
        }.limitingConcurrency(to: limiter)
        await #expect(throws: FetchError.self) { try await failing.fetch(.example()) }
        #expect(limiter.limit == 45)
        let overloaded = StubDataFetcher(DataResponse(status: 503)).limitingConcurrency(to: limiter)
        _ = try await overloaded.fetch(.example())
        #expect(limiter.limit == 40)
        let refusing = StubDataFetcher(failing: .invalidRequest).limitingConcurrency(to: limiter)
        await #expect(throws: FetchError.self) { try await refusing.fetch(.example()) }
        let answering = StubDataFetcher(DataResponse(status: 500)).limitingConcurrency(to: limiter)
        _ = try await answering.fetch(.example())
        #expect(limiter.limit == 40)
        #expect(limiter.underWay == 0)
    }

    private static let allReasons: [FetchError.Reason] = [
        .cancelled, .closed, .invalidRequest, .rejected, .unreachable, .untrusted, .timedOut, .interrupted, .tooLarge,
        .tooManyRedirects, .unsuccessful, .unreadable, .addressRefused,
    ]

    /// Other failures and unsent requests say nothing about overload.
    @Test(arguments: allReasons, [false, true])
    func onlyErrorsOfUnansweredRequestsMeanOverload(reason: FetchError.Reason, wasSent: Bool) async throws {
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 50), timer: TimerService(clock))
        let fetcher = StubDataFetcher { request throws(FetchError) in
            throw FetchError(reason, request: request, explanation: "was told to fail", wasSent: wasSent)
        }.limitingConcurrency(to: limiter)
        await #expect(throws: FetchError.self) { try await fetcher.fetch(.example()) }
        let isLost = [FetchError.Reason.timedOut, .interrupted, .unreachable].contains(reason)
        #expect(limiter.limit == (wasSent && isLost ? 45 : 50))
    }

    @Test func waitersProceedWhenAnAdaptiveLimitRises() async throws {
        let timer = TimerService(clock)
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...1, from: 1), atMost: .seconds(60), timer: timer)
        let (meeting, left) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let holding = StubDataFetcher { _ throws(FetchError) in
            await meeting.arrive()
            await left.arrive()
            return DataResponse()
        }.limitingConcurrency(to: limiter)
        let second = StubDataFetcher(DataResponse(status: 204)).limitingConcurrency(to: limiter)
        async let first = holding.fetch(.example())
        await meeting.arrive()
        let waiting = Task { try await second.fetch(.example()) }
        // The timer for its maximum wait.
        await timer.timers(1)
        await left.arrive()
        #expect(try await waiting.value.status == 204)
        #expect(try await first.status == .ok)
        #expect(limiter.underWay == 0)
    }

    @Test func cancellationAtTheDeadlineMeansOverload() async throws {
        let timer = TimerService(clock)
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 50), timer: timer)
        let nowhere = Rendezvous(of: 2)
        let fetcher = StubDataFetcher { request throws(FetchError) in
            await nowhere.arrive()
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }.limitingConcurrency(to: limiter).timingOut(after: .seconds(5), timer: timer)
        let answer = Task { try await fetcher.fetch(.example()) }
        await timer.timers(1)
        clock.advance(by: .seconds(5))
        let error = await answer.result.failure as? FetchError
        #expect(error?.reason == .timedOut)
        #expect(limiter.limit == 45)
    }

    @Test(arguments: [(200, 2), (404, 2), (499, 2), (500, 1)])
    func limitRisesWhileItIsFullyUsed(status: Int, limit: Int) async throws {
        // It rises a little with every ten responses, but not beyond the concurrency that is used.
        let limiter = ConcurrencyLimiter(.adaptive(in: 1...100, from: 1), timer: TimerService(clock))
        let fetcher = StubDataFetcher(DataResponse(status: .init(status))).limitingConcurrency(to: limiter)
        for _ in 0..<80 { _ = try await fetcher.fetch(.example()) }
        #expect(limiter.limit == limit)
    }
}
