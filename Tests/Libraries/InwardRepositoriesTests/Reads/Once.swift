import Synchronization

/// Tells the first who asks from the others.
final class Once: Sendable {
    private let isAsked = Atomic(false)

    func isFirst() -> Bool { !isAsked.exchange(true, ordering: .relaxed) }
}
