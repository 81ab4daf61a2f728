import Synchronization

/// A counter that tasks can increment concurrently.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock(\.self) }

    /// Adds to the count, and returns the new count.
    @discardableResult
    package func add(_ amount: Int = 1) -> Int {
        count.withLock { count in
            count += amount
            return count
        }
    }
}
