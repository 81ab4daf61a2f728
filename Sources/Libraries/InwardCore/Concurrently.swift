/// Runs two pieces of work at the same time, and returns the results of both.
///
/// ```swift
/// let (list, user) = try await concurrently(
///     { () async throws(RepositoryError) in try await users.list() },
///     { () async throws(RepositoryError) in try await users.user(7) }
/// )
/// ```
///
/// Where the system can start tasks immediately, both begin on the current thread, one after the other. With `async let`, the first would
/// change threads, which costs more than
/// work that needs only memory. If the second throws an error, the first is cancelled and awaited.
///
/// - Parameters:
///   - first: The work that begins first, in a child task.
///   - second: The work that begins when the first is suspended or has ended.
/// - Returns: What the first has returned or thrown, and what the second has returned.
/// - Throws: The error of the second.
@inlinable
public func concurrently<First: Sendable, FirstFailure: Error, Second: Sendable, SecondFailure: Error>(
    _ first: @escaping @Sendable () async throws(FirstFailure) -> First,
    _ second: @Sendable () async throws(SecondFailure) -> Second
) async throws(SecondFailure) -> (Result<First, FirstFailure>, Second) {
    let results = await withTaskGroup(of: Result<First, FirstFailure>.self) { group in
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            group.addImmediateTask { await Result(awaiting: first) }
        } else {
            group.addTask { await Result(awaiting: first) }
        }
        let second = await Result(awaiting: second)
        if case .failure = second { group.cancelAll() }
        return (await group.next(), second)
    }
    // A group returns one value for each of its tasks.
    guard let first = results.0 else { fatalError("The group has lost its task.") }
    return (first, try results.1.get())
}
