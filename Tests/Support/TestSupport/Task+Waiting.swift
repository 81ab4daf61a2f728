extension Task where Failure == Never {
    /// Begins a task that waits for something by the time this returns, or is done.
    package static func waiting(_ operation: @escaping @Sendable @concurrent () async -> Success) -> Task {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) { return .immediate(operation: operation) }
        return Task(operation: operation)
    }
}
