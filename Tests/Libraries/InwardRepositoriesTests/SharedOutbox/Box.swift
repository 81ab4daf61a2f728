import Synchronization

/// A value that several tasks share.
final class Box<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    var peek: Value? { value.withLock(\.self) }

    func put(_ new: Value) { value.withLock { $0 = new } }

    func take() -> Value? { value.withLock { $0.take() } }
}
