import Dispatch
import Foundation
import Synchronization

/// Threads that do jobs in no order, more of them than there are processors, so that each may be interrupted anywhere.
final class ThreadPool: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let available = DispatchSemaphore(value: 0)

    /// Begins threads, which never end.
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
