import Foundation
import Synchronization

/// A gate at which answers of a ``LoopbackServer`` wait until a test lets them through, one at a time.
///
/// A thread of the server waits at it for as long as nobody opens it.
public final class LoopbackGate: Sendable {
    private let passes = Mutex(0)
    /// Apart from the number, because it is what a thread can sleep on.
    private let condition = NSCondition()

    /// Makes a gate that is shut.
    public init() {}

    /// Lets so many through: those who wait, and if there are fewer, those who come.
    public func open(_ count: Int = 1) {
        condition.withLock {
            passes.withLock { $0 += count }
            condition.broadcast()
        }
    }

    /// Waits until somebody may go through, and goes.
    func pass() {
        condition.withLock { while !take() { condition.wait() } }
    }

    private func take() -> Bool {
        passes.withLock { passes in
            guard passes > 0 else { return false }
            passes -= 1
            return true
        }
    }
}
