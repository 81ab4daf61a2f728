import Dispatch
import Synchronization

/// Repeats a piece of work and cancels it at different moments: before it begins, in its first turns, later and later, and around
/// the last moment at which a cancellation still counts.
enum CancellationSweep {
    /// How many of the first turns are all tried.
    private static let firstTurns = 16

    /// Tries all moments, for each of the orders in which others work beside what is cancelled.
    ///
    /// An attempt does the work of a round and has it cancelled at the moment. It tells whether the work was done all the same.
    static func run<Failure: Error>(
        _ orders: [CancellationMoment.Order],
        _ attempt: (_ round: Int, _ moment: CancellationMoment) async throws(Failure) -> Bool
    ) async throws(Failure) {
        var round = 0
        for order in orders {
            // The first is never cancelled, so that it tells how long the work takes.
            let whole = CancellationMoment(turns: nil, order: order)
            _ = try await attempt(round, whole)
            round += 1
            var turns = Array(0..<firstTurns)
            while let last = turns.last, last < 2 * whole.passed { turns.append(max(last, 1) * 2) }
            // Work that goes wrong does so between the last cancellation that counted and the first that came too late.
            var early = -1
            for turn in turns {
                if try await !attempt(round, CancellationMoment(turns: turn, order: order)) { early = turn }
                round += 1
            }
            guard var late = turns.first(where: { $0 > early }) else { continue }
            while late - early > 1 {
                let middle = early + (late - early) / 2
                let isDone = try await attempt(round, CancellationMoment(turns: middle, order: order))
                round += 1
                if isDone { late = middle } else { early = middle }
            }
        }
    }
}

/// When a piece of work is cancelled, and what runs beside it.
///
/// The canceller counts turns, and work that yields takes one step per turn. Work that waits for something else, such as a disk,
/// proceeds meanwhile at its own pace.
final class CancellationMoment: Sendable {
    /// When others work beside what is cancelled.
    enum Order: CaseIterable {
        case alone
        case beforeTheCancellation
        case afterTheCancellation
    }

    private let turns: Int?
    private let order: Order
    private let count = Atomic(0)

    /// Makes a moment.
    ///
    /// - Parameters:
    ///   - turns: After how many turns the work is cancelled; with zero, before it begins; never, with `nil`.
    ///   - order: When others work.
    init(turns: Int?, order: Order) {
        self.turns = turns
        self.order = order
    }

    /// How many turns have passed until the work was cancelled or had ended.
    var passed: Int { count.load(ordering: .relaxed) }

    /// The result of work that is cancelled at this moment, and of the other work beside it; `nil` if the order has none.
    func result<Value: Sendable, Other: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        beside other: @Sendable () async -> Other
    ) async -> (value: Value, other: Other?) {
        let queue = TurnQueue()
        return await withTaskExecutorPreference(queue) {
            let ended = EventCount()
            // Unstructured, because a child task cannot be cancelled alone. It is awaited below.
            let task = Task(executorPreference: queue) { [turns] in
                defer { ended.increase() }
                if turns == 0 { while !Task.isCancelled { await Task.yield() } }
                return await work()
            }
            while passed < turns ?? .max, ended.value == 0, !Task.isCancelled {
                await Task.yield()
                count.add(1, ordering: .relaxed)
            }
            let before = order == .beforeTheCancellation ? await other() : nil
            if turns != nil || Task.isCancelled { task.cancel() }
            let after = order == .afterTheCancellation ? await other() : nil
            return (await task.value, before ?? after)
        }
    }
}

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
