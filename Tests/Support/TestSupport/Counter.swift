import Synchronization

/// A number that many tasks add to at once.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock(\.self) }

    /// Adds to the number, and gives what it is then.
    @discardableResult
    package func add(_ amount: Int = 1) -> Int {
        count.withLock { count in
            count += amount
            return count
        }
    }
}
