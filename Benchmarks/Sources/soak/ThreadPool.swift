import Dispatch
import Foundation
import Synchronization

/// An executor with more threads than processors, so that the system preempts threads at arbitrary points. Jobs run in no
/// particular order.
final class ThreadPool: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let available = DispatchSemaphore(value: 0)

    /// Starts threads, which never end.
    init(threads: Int) {
        for _ in 0..<threads {
            Thread.detachNewThread { [self] in
                while true {
                    available.wait()
                    take()?.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        available.signal()
    }

    private func take() -> UnownedJob? {
        jobs.withLock { jobs in
            guard let index = jobs.indices.randomElement() else { return nil }
            jobs.swapAt(index, jobs.count - 1)
            return jobs.popLast()
        }
    }
}
