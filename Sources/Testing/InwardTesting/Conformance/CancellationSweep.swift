import Dispatch
import InwardCore
import InwardRepositories
import Synchronization

/// Repeats work and cancels it at different moments: before it begins, in each of its first turns, at growing intervals, and
/// around the last moment at which cancellation still has an effect.
enum CancellationSweep {
    /// The number of turns at the beginning of the work that are all tried.
    private static let firstTurns = 16

    /// Tries all moments, for each order of the cancelled work and the concurrent work.
    ///
    /// An attempt does the work of a round and cancels it at the given moment. It returns whether the work completed anyway.
    static func run<Failure: Error>(
        _ orders: [CancellationMoment.Order],
        _ attempt: (_ round: Int, _ moment: CancellationMoment) async throws(Failure) -> Bool
    ) async throws(Failure) {
        var round = 0
        for order in orders {
            // The first attempt is never cancelled. It measures how long the work takes.
            let whole = CancellationMoment(turns: nil, order: order)
            _ = try await attempt(round, whole)
            round += 1
            var turns = Array(0..<firstTurns)
            while let last = turns.last, last < 2 * whole.passed { turns.append(max(last, 1) * 2) }
            // Flaws are most likely to show between the last cancellation that took effect and the first that came too late.
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

extension CancellationSweep {
    /// Returns what is wrong with the results of a read, or of something else that a participle names, whose task is cancelled. The
    /// closure returns whether it was complete.
    static func violations(
        ofReading name: String,
        _ participle: String = "read",
        _ read: @escaping @Sendable () async throws(RecordStoreError) -> Bool
    ) async -> [String] {
        var violations: Set<String> = []
        await run([.alone]) { _, moment in
            let (ending, _) = await moment.result {
                await Result(awaiting: read)
            } beside: {
            }
            violations.formUnion(Self.violations(of: "\(name) \(participle) by a cancelled task", ending))
            return (try? ending.get()) == true
        }
        return violations.sorted()
    }

    /// Returns what is wrong with the result of a cancelled read.
    private static func violations(of name: String, _ ending: Result<Bool, RecordStoreError>) -> [String] {
        switch ending {
        case .success(false): ["\(name) must be complete, but is not."]
        case .failure(let error) where error.reason != .cancelled:
            ["\(name) must be complete or fail as cancelled, but failed as \(error.reason)."]
        case .success, .failure: []
        }
    }
}

/// The moment at which work is cancelled, and its order relative to concurrent work.
///
/// The canceller counts turns. Work that yields takes one step per turn, while work that waits for something else, such as a
/// disk, proceeds at its own pace.
final class CancellationMoment: Sendable {
    /// The order of the concurrent work relative to the cancelled work.
    enum Order: CaseIterable {
        case alone
        case beforeTheCancellation
        case afterTheCancellation
    }

    private let turns: Int?
    private let order: Order
    private let count = Atomic(0)

    /// Creates a moment.
    ///
    /// - Parameters:
    ///   - turns: The number of turns after which the work is cancelled. Zero cancels it before it begins, and `nil` never.
    ///   - order: The order of the concurrent work.
    init(turns: Int?, order: Order) {
        self.turns = turns
        self.order = order
    }

    /// The number of turns until the work was cancelled or ended.
    var passed: Int { count.load(ordering: .relaxed) }

    /// Runs work that is cancelled at this moment, and concurrent work if the order includes it. Returns the result of each, or
    /// `nil` for concurrent work that did not run.
    func result<Value: Sendable, Other: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        beside other: @Sendable () async -> Other
    ) async -> (value: Value, other: Other?) {
        let queue = TurnQueue()
        return await withTaskExecutorPreference(queue) {
            let ended = EventCount()
            // An unstructured task, because a child task cannot be cancelled alone. It is awaited below.
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

/// Runs tasks on one thread, one job at a time, in the order in which the jobs become ready.
///
/// Tasks that yield take turns, each as often as the others, regardless of the load on the machine.
final class TurnQueue: TaskExecutor {
    private let queue = DispatchQueue(label: "inward.conformance.turns")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            // `unsafe`: The job was enqueued once, so it runs once. It runs on the executor that its task prefers, which the
            // closure retains.
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
