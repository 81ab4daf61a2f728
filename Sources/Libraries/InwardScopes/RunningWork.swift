/// A piece of work that a scope cancels and waits for when it is closed.
protocol RunningWork: Sendable {
    func cancel()
    /// Waits until the work has ended.
    func end() async
}

extension Task: RunningWork where Failure == Never {
    func end() async { _ = await value }
}
