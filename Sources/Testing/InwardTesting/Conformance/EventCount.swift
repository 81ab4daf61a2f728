import Synchronization

/// Counts what concurrent tasks have done, so that others can go on until it is so much.
final class EventCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func increase() {
        count.add(1, ordering: .sequentiallyConsistent)
    }
}
