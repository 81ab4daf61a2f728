import Synchronization

/// An executor that runs jobs only on request, in the order in which they became ready. Tests use it to observe that order.
final class SteppedExecutor: TaskExecutor {
    private let ready = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// Runs jobs on this thread until none is ready.
    func runAll() {
        while let job = ready.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            // `unsafe`: The job was enqueued once and is removed under the lock, so it runs once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
