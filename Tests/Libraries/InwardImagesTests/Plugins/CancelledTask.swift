/// A task that is cancelled before its work starts.
enum CancelledTask {
    /// Returns whether the work throws `CancellationError`.
    static func stops(_ work: @escaping @Sendable () async throws(CancellationError) -> Void) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask {
                do { try await work() } catch { return true }
                return false
            }
            return await group.next() ?? false
        }
    }
}
