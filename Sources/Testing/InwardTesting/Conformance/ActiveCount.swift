import Synchronization

/// Counts how many tasks are inside of a piece of work.
final class ActiveCount: Sendable {
    private let count = Atomic(0)

    /// Enters the work, and returns how many tasks are in it then.
    func enter() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }

    func leave() { count.subtract(1, ordering: .sequentiallyConsistent) }
}
