import Synchronization

extension Outbox {
    /// Waits until all writes that are pending now are settled, or the task's deadline has passed, or it was cancelled. What is
    /// held, and so is not sent, is not waited for.
    ///
    /// A program that is about to end can give what it has accepted some time by this. What is left stays pending, for the next
    /// outbox.
    ///
    /// - Returns: how many writes are pending then.
    /// - Complexity: O(n) in the number of those that are pending now.
    @discardableResult
    public func drain() async -> Int {
        for entry in state.withLock(\.lanes.deliverable) {
            // Whatever came of one, the others are waited for.
            do { try await settlement(of: entry) } catch {}
        }
        return state.withLock(\.lanes.count)
    }
}
