import Dispatch
import Foundation
import InwardScopes
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DedicatedThreadsTests {
    /// Counts the jobs that run at the same time.
    private final class Meter: Sendable {
        private let counts = Mutex([0, 0, 0])

        func measure(_ work: () -> Void) {
            counts.withLock { counts in
                counts[0] += 1
                counts[1] = max(counts[0], counts[1])
                counts[2] += 1
            }
            work()
            counts.withLock { $0[0] -= 1 }
        }

        var maximum: Int { counts.withLock { $0[1] } }
        var total: Int { counts.withLock { $0[2] } }
    }

    private final class Log: Sendable {
        private let numbers = Mutex<[Int]>([])

        func append(_ number: Int) { numbers.withLock { $0.append(number) } }

        var all: [Int] { numbers.withLock { $0 } }
    }

    private func run(
        _ count: Int,
        on threads: DedicatedThreads,
        _ work: @escaping @Sendable () -> Void = {}
    ) async -> Meter {
        let meter = Meter()
        await withDiscardingTaskGroup { group in
            for _ in 0..<count { group.addTask(executorPreference: threads) { meter.measure(work) } }
        }
        return meter
    }

    @Test(arguments: [-1, 0, 1]) func oneThreadRunsOneJobAtATime(count: Int) async {
        let meter = await run(200, on: DedicatedThreads(count: count))
        #expect(meter.maximum == 1)
        #expect(meter.total == 200)
    }

    @Test func asManyJobsRunAtATimeAsThereAreThreads() async {
        let threads = DedicatedThreads(count: 3)
        let start = DispatchGroup()
        for _ in 0..<3 { start.enter() }
        // Each job keeps its thread until all three have started.
        let meter = await run(3, on: threads) {
            start.leave()
            start.wait()
        }
        #expect(meter.maximum == 3)
        #expect(await run(200, on: threads).maximum <= 3)
    }

    @Test func otherWorkGoesOnWhileAllThreadsAreBusy() async {
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount
        let (threads, start, end) = (DedicatedThreads(count: count), DispatchGroup(), DispatchSemaphore(value: 0))
        for _ in 0..<count { start.enter() }
        await withDiscardingTaskGroup { group in
            for _ in 0..<count {
                group.addTask(executorPreference: threads) {
                    start.leave()
                    end.wait()
                }
            }
            await withCheckedContinuation { all in start.notify(queue: .global()) { all.resume() } }
            // On the default executor, which has fewer threads than are busy.
            let isDone = await withTaskGroup(of: Bool.self) { others in
                others.addTask { true }
                return await others.next() == true
            }
            #expect(isDone)
            for _ in 0..<count { end.signal() }
        }
    }

    @Test func jobsRunInTheOrderInWhichTheyBecomeReady() async {
        let log = Log()
        let threads = DedicatedThreads(count: 1)
        let (begin, end) = (DispatchSemaphore(value: 0), 100)
        await withDiscardingTaskGroup { group in
            for number in 0..<end {
                group.addTask(executorPreference: threads) {
                    if number == 0 { begin.wait() }
                    log.append(number)
                }
            }
            begin.signal()
        }
        #expect(log.all == Array(0..<end))
    }
}
