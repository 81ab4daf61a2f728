import Synchronization

/// Runs tasks when it is told to and not before, in the order they became ready, so that the order shows.
final class SteppedExecutor: TaskExecutor {
    private let ready = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// Runs what is ready, on this thread, until nothing is.
    func runAll() {
        while let job = ready.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            // `unsafe`: it was taken out under the lock, and so is run once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
