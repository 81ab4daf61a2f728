import Synchronization

/// Numbers the interactions of an app that bring no identifier of their own.
final class InteractionNumbers: Sendable {
    private let last = Atomic(0)

    /// The next number, as an identifier.
    func next() -> InteractionID {
        InteractionID("\(last.add(1, ordering: .relaxed).newValue)")
    }
}
