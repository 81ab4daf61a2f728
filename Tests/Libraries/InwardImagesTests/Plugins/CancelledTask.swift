/// What a piece of work does in a task that is cancelled before it begins.
enum CancelledTask {
    /// Whether the work throws `CancellationError`.
    static func stops(_ work: @escaping @Sendable () throws(CancellationError) -> Void) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask {
                do { try work() } catch { return true }
                return false
            }
            return await group.next() ?? false
        }
    }
}
