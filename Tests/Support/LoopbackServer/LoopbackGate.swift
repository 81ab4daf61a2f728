import Foundation
import Synchronization

/// A gate that holds responses of a ``LoopbackServer`` until a test lets them through, one at a time.
///
/// A waiting response blocks its thread of the server.
public final class LoopbackGate: Sendable {
    private let passes = Mutex(0)
    /// The condition on which threads sleep.
    private let condition = NSCondition()

    /// Creates a closed gate.
    public init() {}

    /// Lets a number of responses through: those that wait, then those that arrive later.
    public func open(_ count: Int = 1) {
        condition.withLock {
            passes.withLock { $0 += count }
            condition.broadcast()
        }
    }

    /// Waits until the gate lets the response through.
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
