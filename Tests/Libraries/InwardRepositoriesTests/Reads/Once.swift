import Synchronization

/// Distinguishes the first call from later ones.
final class Once: Sendable {
    private let isAsked = Atomic(false)

    func isFirst() -> Bool { !isAsked.exchange(true, ordering: .relaxed) }
}
