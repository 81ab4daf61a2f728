import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeterministicSchedulerTests {
    private struct ExampleError: Error, Equatable {}

    /// Continuations that are never resumed. They are retained, because a checked continuation logs a leak if it is released.
    private static let forgotten = Mutex<[CheckedContinuation<Void, Never>]>([])

    private let scheduler = DeterministicScheduler(seed: 7)

    /// Returns the order of all turns of four tasks, and the trace of the run.
    private func walk(seed: UInt64) async throws -> (order: [String], trace: SchedulerTrace) {
        let scheduler = DeterministicScheduler(seed: seed)
        let order = try await scheduler.run {
            let order = Mutex<[String]>([])
            await withTaskGroup { group in
                for name in ["a", "b", "c", "d"] {
                    group.addTask { @Sendable in
                        for turn in 0..<4 {
                            order.withLock { $0.append("\(name)\(turn)") }
                            await Task.yield()
                            try? await scheduler.timer.sleep(for: .seconds(turn))
                        }
                    }
                }
            }
            return order.withLock(\.self)
        }
        return (order, scheduler.trace)
    }

    @Test func seedReproducesTheRun() async throws {
        var traces: Set<SchedulerTrace> = []
        var orders: Set<[String]> = []
        for seed in UInt64(0)..<50 {
            let first = try await walk(seed: seed)
            let second = try await walk(seed: seed)
            #expect(first.order == second.order, "The seed was \(seed).")
            #expect(first.trace == second.trace, "The seed was \(seed).")
            #expect(first.order.count == 16)
            traces.insert(first.trace)
            orders.insert(first.order)
        }
        #expect(traces.count == 50)
        #expect(orders.count > 40)
    }

    @Test func readyJobsRunInEveryOrder() async throws {
        var orders: Set<[Int]> = []
        for seed in UInt64(0)..<100 {
            let order = try await DeterministicScheduler(seed: seed).run {
                await withTaskGroup { group in
                    for number in 0..<3 { group.addTask { number } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            orders.insert(order)
        }
        #expect(orders.count == 6)
    }

    @Test func longSleepsFinishImmediately() async throws {
        let woken = try await scheduler.run {
            try await withThrowingTaskGroup { group in
                for hours in [5, 1, 3] {
                    group.addTask {
                        try await scheduler.clock.sleep(for: .seconds(hours * 3_600))
                        return scheduler.clock.now.offset
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(woken == [1, 3, 5].map { .seconds($0 * 3_600) })
        #expect(scheduler.clock.now.offset == .seconds(5 * 3_600))
    }

    @Test func timersFireAtTheirTimesOnTheScheduler() async throws {
        let (first, second) = try await scheduler.run {
            let first = Promise<Duration>()
            let second = Promise<Duration>()
            scheduler.timer.schedule(at: .seconds(20)) { second.fulfill(scheduler.timer.now) }
            scheduler.timer.schedule(at: .seconds(10)) { first.fulfill(scheduler.timer.now) }
            return (await first.value(), await second.value())
        }
        guard case .fulfilled(.seconds(10)) = first, case .fulfilled(.seconds(20)) = second else {
            Issue.record("\(first), \(second)")
            return
        }
        #expect(scheduler.timer.count == 0)
    }

    @Test func errorOfTheWorkIsThrown() async throws {
        await #expect(throws: ExampleError()) { try await scheduler.run { throw ExampleError() } }
        #expect(try await scheduler.run { 7 } == 7)
    }

    @Test func stalledWorkIsCancelledAndReported() async throws {
        let wasCancelled = Mutex(false)
        let outcome = await #expect(throws: DeterministicSchedulerError.self) {
            try await scheduler.run {
                await Rendezvous(of: 2).arrive()
                wasCancelled.withLock { $0 = Task.isCancelled }
            }
        }
        guard case .stalled(seed: 7, let trace) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(wasCancelled.withLock { $0 })
        #expect(outcome?.description.hasSuffix("after \(trace), with the seed 7") == true)
        #expect(try await scheduler.run { 7 } == 7)
    }

    @Test func unstoppableWorkIsAbandoned() async {
        let scheduler = DeterministicScheduler(seed: 7, stepLimit: 100)
        await #expect(throws: DeterministicSchedulerError.self) {
            try await scheduler.run { await waitForever() }
        }
        let outcome = await #expect(throws: DeterministicSchedulerError.self) {
            try await scheduler.run { while true { await Task.yield() } }
        }
        guard case .exhausted(seed: 7, let trace) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(trace.steps >= 100)
    }

    /// Waits forever and ignores cancellation.
    private func waitForever() async {
        await withCheckedContinuation { continuation in Self.forgotten.withLock { $0.append(continuation) } }
    }

    @Test func schedulerRunsOnePieceOfWorkAtATime() async throws {
        try await scheduler.run {
            await #expect(throws: DeterministicSchedulerError.busy(seed: 7)) { try await scheduler.run {} }
            await #expect(throws: DeterministicSchedulerError.busy(seed: 7)) { try await scheduler.drain() }
        }
    }

    @Test func unfinishedTimersWaitForTheDrain() async throws {
        let fired = Mutex(false)
        try await scheduler.run {
            _ = scheduler.timer.schedule(at: .seconds(10)) { fired.withLock { $0 = true } }
        }
        #expect(!fired.withLock { $0 })
        #expect(scheduler.clock.now.offset == .zero)
        try await scheduler.drain()
        #expect(fired.withLock { $0 })
        #expect(scheduler.clock.now.offset == .seconds(10))
        #expect(scheduler.clock.sleeperCount == 0)
    }

    @Test func endlessWorkIsNotDrained() async throws {
        let scheduler = DeterministicScheduler(seed: 7, stepLimit: 100)
        @Sendable func tick() { scheduler.timer.schedule(at: scheduler.timer.now + .seconds(1)) { tick() } }
        try await scheduler.run { tick() }
        let error = await #expect(throws: DeterministicSchedulerError.self) { try await scheduler.drain() }
        #expect(error?.description.hasSuffix("maximum number of steps: \(scheduler.trace), with the seed 7") == true)
    }

    @Test func clockStandsStillDuringOutsideWork() async throws {
        let turns = Mutex(0)
        try await scheduler.run {
            async let later: Void = scheduler.clock.sleep(for: .seconds(10))
            for _ in 0..<20 {
                await scheduler.outside { await MainActor.run { turns.withLock { $0 += 1 } } }
            }
            #expect(scheduler.clock.now.offset == .zero)
            try await later
        }
        #expect(turns.withLock { $0 } == 20)
        #expect(scheduler.clock.now.offset == .seconds(10))
    }

    @Test func runDoesNotWaitForFinishedOutsideWork() async {
        let begun = Promise<Void>()
        let released = Promise<Void>()
        await withTaskGroup { group in
            group.addTask {
                await scheduler.outside {
                    begun.fulfill(())
                    _ = await released.value()
                }
            }
            _ = await begun.value()
            group.addTask {
                await #expect(throws: DeterministicSchedulerError.self) {
                    try await scheduler.run {
                        released.fulfill(())
                        await Rendezvous(of: 2).arrive()
                    }
                }
            }
        }
    }

    @Test func cancelledCallerCancelsTheWork() async {
        await withTaskGroup { group in
            group.addTask {
                await #expect(throws: CancellationError.self) {
                    try await scheduler.run {
                        while !Task.isCancelled { await Task.yield() }
                        try await scheduler.clock.sleep(for: .seconds(1))
                    }
                }
            }
            group.cancelAll()
        }
        #expect(scheduler.clock.now.offset == .zero)
    }

    @Test func schedulerIsNotRetainedByItsTimer() async throws {
        weak var timer: TimerService?
        do {
            let scheduler = DeterministicScheduler(seed: 7)
            timer = scheduler.timer
            try await scheduler.run { try await scheduler.timer.sleep(for: .seconds(1)) }
        }
        #expect(timer == nil)
    }
}
