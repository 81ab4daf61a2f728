/// How long each thing that a scope closes may take.
public struct ClosingLimit: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// Gives each child, each piece of work and each object so much time, on a clock.
    public init(_ duration: Duration, on clock: any Clock<Duration>) {
        self.duration = duration
        self.clock = clock
    }

    /// Waits for a task, and cancels it when its time is up, or when the task that waits is cancelled.
    ///
    /// - Returns: what the task gave; `nil` if it was cancelled. It may go on for a while then, without being awaited.
    func value<Value: Sendable>(of task: Task<Value, Never>) async -> Value? {
        let (events, report) = AsyncStream.makeStream(of: Value?.self)
        // Unstructured, because a group would wait for both: this one ends when `task` does and holds nothing else, and the
        // other is ended below.
        Task { report.yield(await task.value) }
        let alarm = Task {
            try? await clock.sleep(for: duration)
            report.yield(nil)
        }
        // A task that is cancelled gets no event.
        let first = await events.first { _ in true } ?? nil
        if first == nil { task.cancel() }
        alarm.cancel()
        await alarm.value
        return first
    }
}
