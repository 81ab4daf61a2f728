import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An executor with threads of its own, for work that keeps its thread busy, such as converting images.
///
/// ```swift
/// let threads = DedicatedThreads(count: 2)
/// await withTaskExecutorPreference(threads) { print("On a thread of its own.") }
/// ```
///
/// A codec keeps its thread busy for tens or hundreds of milliseconds. On the default executor, which has one thread for each processor,
/// a few conversions would delay everything else by that time. On threads of their own, the operating system divides the processors
/// between the conversions and other work. Pass the executor to the `ImageServer` of `InwardImageServing`.
///
/// Jobs run in the order in which they become ready, at most as many at a time as there are threads.
///
/// - Complexity: Scheduling a job takes O(n) in the number of jobs that wait.
public final class DedicatedThreads: TaskExecutor {
    private struct State {
        var idle: [Int]
        var waiting: [UnownedJob] = []
    }

    // Serial queues, because the system gives each of them a thread while it has work. Concurrent queues may share threads with the
    // default executor.
    private let queues: [DispatchQueue]
    private let state: Mutex<State>

    /// Creates an executor.
    ///
    /// - Parameter count: The maximum number of threads. By default, as many as there are processors. Less than one counts as one.
    public init(count: Int = ProcessInfo.processInfo.activeProcessorCount) {
        queues = (0..<max(1, count)).map { DispatchQueue(label: "inward.threads.\($0)") }
        state = Mutex(State(idle: Array(queues.indices)))
    }

    /// Runs a job on the next free thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = state.withLock { state in
            let thread = state.idle.popLast()
            if thread == nil { state.waiting.append(job) }
            return thread
        }
        guard let thread else { return }
        queues[thread].async { self.run(job, on: thread) }
    }

    /// Runs a job, and then others while some wait.
    private func run(_ first: UnownedJob, on thread: Int) {
        var next: UnownedJob? = first
        while let job = next {
            // `unsafe`: Each job was enqueued once, and is taken from the state once. It runs on the executor that its task prefers,
            // which the queue's closure retains.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(thread)
                return nil
            }
        }
    }
}
