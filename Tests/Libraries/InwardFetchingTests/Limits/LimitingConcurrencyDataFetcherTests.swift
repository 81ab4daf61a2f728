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
struct LimitingConcurrencyDataFetcherTests {
    /// An observer that records rejections.
    private final class Refusals: FetchObserver {
        private let recorded = Mutex<[FetchError]>([])
        var errors: [FetchError] { recorded.withLock(\.self) }
        func rejected(_ request: DataRequest, because error: FetchError) { recorded.withLock { $0.append(error) } }
    }

    private let clock = ManualClock()
    private let timer: TimerService
    /// The rendezvous points that hold back the first request.
    private let sent = Rendezvous(of: 2)
    private let released = Rendezvous(of: 2)
    private let source: RecordingDataFetcher

    init() {
        timer = TimerService(clock)
        source = RecordingDataFetcher(
            StubDataFetcher { [sent, released] request throws(FetchError) in
                if request.url.path == "/first" {
                    await sent.arrive()
                    await released.arrive()
                }
                return DataResponse()
            }
        )
    }

    /// Returns a pipeline with one permit, which is taken, and a queue of the given capacity.
    private func fetcher(waiting capacity: Int, atMost patience: Duration? = .seconds(60))
        -> LimitingConcurrencyDataFetcher
    {
        source.limitingConcurrency(
            to: ConcurrencyLimiter(.fixed(1), waiting: capacity, atMost: patience, timer: timer)
        )
    }

    private func request(_ name: String) throws -> DataRequest { try .example("http://upstream.test/\(name)") }

    /// Sends a request in a separate task.
    private func ask(
        _ name: String,
        by fetcher: LimitingConcurrencyDataFetcher,
        priority: TaskPriority = .medium
    ) throws -> Task<DataResponse, any Error> {
        let request = try request(name)
        return Task(priority: priority) { try await fetcher.fetch(request) }
    }

    /// Returns the error of a task.
    private func error(_ task: Task<DataResponse, any Error>) async -> FetchError? {
        await task.result.failure as? FetchError
    }

    @Test func waitersProceedByPriorityThenInOrderOfArrival() async throws {
        let fetcher = fetcher(waiting: 6)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        var tasks = [first]
        for (name, priority) in [
            ("a", TaskPriority.low), ("b", .medium), ("c", .high), ("d", .low), ("e", .medium), ("f", .high),
        ] {
            tasks.append(try ask(name, by: fetcher, priority: priority))
            await timer.timers(tasks.count - 1)
        }
        await released.arrive()
        for task in tasks { #expect(try await task.value.status == .ok) }
        #expect(source.requests.map(\.url.path) == ["/first", "/c", "/f", "/b", "/e", "/a", "/d"])
        #expect(timer.count == 0)
    }

    @Test func requestsAreRejectedImmediatelyWhenTheQueueIsFull() async throws {
        let refusals = Refusals()
        let fetcher = fetcher(waiting: 1)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let second = try ask("second", by: fetcher)
        await timer.timers(1)
        let observed = fetcher.observing(with: refusals)
        let error = await #expect(throws: FetchError.self) { try await observed.fetch(request("third")) }
        #expect(error?.reason == .rejected)
        #expect(error?.explanation == "was not sent: 1 request is under way and 1 waits, which is the limit")
        #expect(refusals.errors.map(\.reason) == [.rejected])
        await released.arrive()
        #expect(try await [first.value, second.value].count == 2)
        #expect(source.requests.count == 2)
    }

    @Test func higherPriorityDisplacesTheLastWaiterOfTheLowestPriority() async throws {
        let fetcher = fetcher(waiting: 3)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let low = try ask("a", by: fetcher, priority: .low)
        await timer.timers(1)
        let medium = try ask("b", by: fetcher, priority: .medium)
        await timer.timers(2)
        let last = try ask("c", by: fetcher, priority: .low)
        await timer.timers(3)
        let high = try ask("d", by: fetcher, priority: .high)
        let shed = await error(last)
        #expect(shed?.reason == .rejected)
        #expect(
            shed?.explanation
                == """
                was not sent: a request with a higher priority took its place, because 1 request is under way and 3 wait, which is \
                the limit
                """
        )
        await released.arrive()
        for task in [first, low, medium, high] { #expect(try await task.value.status == .ok) }
        #expect(source.requests.map(\.url.path) == ["/first", "/d", "/b", "/a"])
    }

    @Test func cancelledWaiterLeavesTheQueue() async throws {
        let fetcher = fetcher(waiting: 1)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let second = try ask("second", by: fetcher)
        await timer.timers(1)
        second.cancel()
        #expect(await error(second)?.reason == .cancelled)
        #expect(timer.count == 0)
        let third = try ask("third", by: fetcher)
        await timer.timers(1)
        await released.arrive()
        #expect(try await [first.value, third.value].count == 2)
        #expect(source.requests.map(\.url.path) == ["/first", "/third"])
    }

    @Test func waitsEndAtTheirMaximum() async throws {
        let refusals = Refusals()
        let fetcher = fetcher(waiting: 1, atMost: .seconds(2))
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let second = Task { [fetcher, request = try request("second")] in
            try await fetcher.observing(with: refusals).fetch(request)
        }
        await timer.timers(1)
        clock.advance(by: .seconds(2))
        let error = await error(second)
        #expect(error?.reason == .rejected)
        #expect(
            error?.explanation
                == "was not sent: 1 request is under way, and it waited for 2.0 seconds, which is the limit"
        )
        #expect(refusals.errors.count == 1)
        await released.arrive()
        #expect(try await first.value.status == .ok)
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [Duration?.none, .seconds(60)])
    func waitsEndAtTheDeadline(patience: Duration?) async throws {
        let fetcher = fetcher(waiting: 1, atMost: patience)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let second = Task { [timer, request = try request("second")] in
            try await Deadline(in: .seconds(5), on: timer).carried { () async throws(FetchError) in
                try await fetcher.fetch(request)
            }.get()
        }
        await timer.timers(1)
        clock.advance(by: .seconds(5))
        let late = await error(second)
        #expect(late?.reason == .timedOut && late?.wasSent == false)
        await released.arrive()
        #expect(try await first.value.status == .ok)
        #expect(source.requests.count == 1)
    }

    @Test func lateOrCancelledRequestsDisplaceNoWaiter() async throws {
        let fetcher = fetcher(waiting: 1)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let low = try ask("low", by: fetcher, priority: .low)
        await timer.timers(1)
        let request = try request("late")
        let late = Task(priority: .high) { [timer] in
            try await Deadline(in: .zero, on: timer).carried { () async throws(FetchError) in
                try await fetcher.fetch(request)
            }.get()
        }
        let lateError = await error(late)
        #expect(lateError?.reason == .timedOut && lateError?.wasSent == false)
        let cancelled = Task(priority: .high) {
            // `unsafe`: the task is used only while the closure runs.
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            return try await fetcher.fetch(request)
        }
        let cancelledError = await error(cancelled)
        #expect(cancelledError?.reason == .cancelled && cancelledError?.wasSent == false)
        await released.arrive()
        for task in [first, low] { #expect(try await task.value.status == .ok) }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func maximumWaitOfZeroRejectsRequestsImmediately(patience: Duration) async throws {
        let fetcher = fetcher(waiting: 10, atMost: patience)
        let first = try ask("first", by: fetcher)
        await sent.arrive()
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request("second")) }
        #expect(error?.explanation == "was not sent: 1 request is under way, which is the limit")
        await released.arrive()
        #expect(try await first.value.status == .ok)
    }

    @Test func failedRequestsReleaseTheirPermit() async throws {
        let fetcher = StubDataFetcher(failing: .unreachable).limitingConcurrency(
            to: ConcurrencyLimiter(.fixed(1), waiting: 0)
        )
        for _ in 0..<3 {
            let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(.example()) }
            #expect(error?.reason == .unreachable)
        }
    }

    @Test func layerDescriptionNamesTheLimit() {
        let source = StubDataFetcher(DataResponse())
        #expect(
            source.limitingConcurrency(to: 16).layer == DataFetcherLayer(.concurrencyLimit, "sends at most 16 at once")
        )
        #expect(source.limitingConcurrency(to: 0).layer.description == "sends at most 1 at once")
        let adaptive = ConcurrencyLimiter(.adaptive(from: 30))
        #expect(
            source.limitingConcurrency(to: adaptive).layer.description
                == "sends as many at once as the upstream handles, now 30"
        )
    }
}
