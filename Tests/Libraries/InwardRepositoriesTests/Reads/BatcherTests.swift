import InwardCore
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct BatcherTests {
    /// The batches so far.
    private final class Batches: Sendable {
        private let batches = Mutex<[Set<Int>]>([])

        var all: [Set<Int>] { batches.withLock(\.self) }

        func add(_ keys: [Int]) { batches.withLock { $0.append(Set(keys)) } }
    }

    private let clock: ManualClock
    private let timer: TimerService
    private let batches = Batches()

    init() {
        clock = ManualClock()
        timer = TimerService(clock)
    }

    private func batcher(limit: Int = 100, timer: TimerService? = nil) -> Batcher<Int, String> {
        Batcher(limit: limit, window: .milliseconds(2), timer: timer ?? self.timer) { [batches] keys in
            batches.add(keys)
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, "answer \($0)") })
        }
    }

    private func answer(_ outcome: Promise<String>.Outcome) -> String? {
        if case .fulfilled(let answer) = outcome { answer } else { nil }
    }

    @Test func requestsWithinTheWindowAreOneBatch() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let batcher = batcher(timer: scheduler.timer)
        let answers = try await scheduler.run {
            try await withThrowingTaskGroup(of: String?.self) { group in
                for key in [1, 2, 3] {
                    group.addTask {
                        try await scheduler.timer.sleep(for: .microseconds(500 * key))
                        return answer(await batcher.answer(to: key))
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
        }
        #expect(answers == ["answer 1", "answer 2", "answer 3"])
        #expect(batches.all == [[1, 2, 3]])
        // The window begins with the first request.
        #expect(scheduler.clock.now.offset == .microseconds(2_500))
    }

    @Test func batchBeginsAfterTheWindow() async {
        let batcher = batcher()
        async let only = batcher.answer(to: 1)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1))
        #expect(batches.all == [])
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1))
        #expect(answer(await only) == "answer 1")
    }

    @Test func fullBatchDoesNotWait() async {
        let batcher = batcher(limit: 2)
        async let first = batcher.answer(to: 1)
        await timer.timers(1)
        #expect(answer(await batcher.answer(to: 2)) == "answer 2")
        #expect(answer(await first) == "answer 1")
        #expect(batches.all == [[1, 2]])
    }

    @Test func windowOfAFullBatchDoesNotShortenTheNext() async {
        let batcher = batcher(limit: 2)
        async let first = batcher.answer(to: 1)
        await timer.timers(1)
        _ = await batcher.answer(to: 2)
        _ = await first
        clock.advance(by: .milliseconds(1))
        async let third = batcher.answer(to: 3)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1))
        #expect(batches.all == [[1, 2]])
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(1))
        #expect(answer(await third) == "answer 3")
    }

    @Test func closingCancelsBatchesAndRejectsNewRequests() async {
        let begun = Rendezvous(of: 2)
        let wasCancelled = Promise<Bool>()
        let batcher = Batcher<Int, String>(limit: 1, window: .milliseconds(2), timer: timer) { _ in
            await begun.arrive()
            // Only cancellation ends this wait.
            await Rendezvous(of: 2).arrive()
            wasCancelled.fulfill(Task.isCancelled)
            return [:]
        }
        let waiting = Task { await batcher.answer(to: 1) }
        await begun.arrive()
        batcher.close()
        guard case .fulfilled(true) = await wasCancelled.value() else {
            return #expect(Bool(false), "The batch was not cancelled.")
        }
        guard case .cancelled = await batcher.answer(to: 2) else {
            return #expect(Bool(false), "A closed batcher accepted a request.")
        }
        guard case .cancelled = await waiting.value else { return #expect(Bool(false), "The wait was not cancelled.") }
    }

    @Test func closingCancelsTheBatchBeingCollected() async {
        let batcher = batcher()
        let waiting = Task { await batcher.answer(to: 1) }
        await timer.timers(1)
        batcher.close()
        #expect(timer.count == 0)
        guard case .cancelled = await waiting.value else { return #expect(Bool(false), "The wait was not cancelled.") }
        #expect(batches.all == [])
    }

    @Test func cancelledCallerDoesNotEndTheBatch() async {
        let batcher = batcher(limit: 2)
        let leaving = Task { await batcher.answer(to: 1) }
        await timer.timers(1)
        leaving.cancel()
        guard case .cancelled = await leaving.value else { return #expect(Bool(false), "The wait was not cancelled.") }
        #expect(answer(await batcher.answer(to: 2)) == "answer 2")
        #expect(batches.all == [[1, 2]])
    }
}
