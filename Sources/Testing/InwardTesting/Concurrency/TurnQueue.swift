import Dispatch

/// Runs tasks on one thread, one piece after the other in the order in which they get ready.
///
/// Tasks here that yield take turns, each as often as the other, whatever else the machine does.
final class TurnQueue: TaskExecutor {
    private let queue = DispatchQueue(label: "inward.conformance.turns")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            // `unsafe`: it was handed over once, and so is run once; and on the executor that its task prefers, which this keeps.
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
