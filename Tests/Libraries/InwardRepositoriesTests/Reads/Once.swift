import Synchronization

/// Tells the first call from the later ones.
final class Once: Sendable {
    private let isAsked = Atomic(false)

    func isFirst() -> Bool { !isAsked.exchange(true, ordering: .relaxed) }
}
