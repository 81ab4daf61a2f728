import Synchronization

/// When a piece of work is cancelled, and what is done beside it then.
///
/// Who cancels counts turns, in each of which work that yields gets on by one step. Work that waits for something else, such as a
/// disk, gets on meanwhile as it can.
final class CancellationMoment: Sendable {
    /// When others work beside what is cancelled.
    enum Order: CaseIterable {
        case alone
        case beforeTheCancellation
        case behindTheCancellation
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

    /// What comes of work that is cancelled at this moment, and what others did beside it; that is `nil` if none did.
    func result<Value: Sendable, Other: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        beside other: @Sendable () async -> Other
    ) async -> (value: Value, other: Other?) {
        let queue = TurnQueue()
        return await withTaskExecutorPreference(queue) {
            let ended = EventCount()
            // Unstructured, because a group would not give its value but as one that there may not be. It is awaited below.
            let task = Task(executorPreference: queue) { [turns] in
                defer { ended.increase() }
                if turns == 0 { while !Task.isCancelled { await Task.yield() } }
                return await work()
            }
            while passed < turns ?? .max, ended.value == 0, !Task.isCancelled {
                await Task.yield()
                count.add(1, ordering: .relaxed)
            }
            switch order {
            case .alone:
                if turns != nil || Task.isCancelled { task.cancel() }
                return (await task.value, nil)
            case .beforeTheCancellation:
                let other = await other()
                if turns != nil || Task.isCancelled { task.cancel() }
                return (await task.value, other)
            case .behindTheCancellation:
                if turns != nil || Task.isCancelled { task.cancel() }
                let other = await other()
                return (await task.value, other)
            }
        }
    }
}
