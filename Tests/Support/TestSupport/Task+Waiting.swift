extension Task where Failure == Never {
    /// Starts a task. On newer systems, it has reached its first suspension or its end when this method returns.
    package static func waiting(_ operation: @escaping @Sendable @concurrent () async -> Success) -> Task {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) { return .immediate(operation: operation) }
        return Task(operation: operation)
    }
}
