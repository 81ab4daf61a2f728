import Synchronization

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
