extension Task where Failure == Never {
    /// Starts a task on an executor.
    ///
    /// `Task(executorPreference: nil)` would run on the default executor, too, but each asynchronous call in such a task would look
    /// for the preference, and so take about twice as long.
    ///
    /// - Parameters:
    ///   - executor: The executor, or `nil` for the default executor.
    ///   - operation: The work.
    /// - Returns: The task.
    @inlinable
    package static func starting(
        on executor: (any TaskExecutor)?,
        _ operation: sending @escaping @concurrent () async -> Success
    ) -> Task {
        if let executor { Task(executorPreference: executor, operation: operation) } else { Task(operation: operation) }
    }

    /// Starts a task on the current thread. Its work moves to a thread of the executor only if it suspends. On Apple's systems
    /// before version 26, the task starts on a thread of the executor.
    ///
    /// - Parameters:
    ///   - executor: The executor, or `nil` for the default executor.
    ///   - operation: The work.
    /// - Returns: The task.
    @inlinable
    package static func startingHere(
        on executor: (any TaskExecutor)?,
        _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) else { return starting(on: executor, operation) }
        return .immediate(executorPreference: executor, operation: operation)
    }
}
