public import InterfaceAdapters
import InwardRepositories
public import InwardScopes

extension UserContainer {
    /// Waits until this user's accepted writes are delivered to the upstream or refused by it, up to a time limit.
    ///
    /// It opens the user's outbox if something is pending, and waits its turn if another process owns it. Writes of this session are
    /// delivered anyway, as long as it is open. Call this before you close it.
    ///
    /// - Parameter limit: How long to wait; `nil` for as long as the configuration says that an interaction may take.
    /// - Returns: what to show; `nil` if nothing of this user outlives the process, so that nothing is accepted before it is done.
    /// - Throws: a `ScopeError` if the session is closed.
    public func deliver(within limit: Duration? = nil) async throws(ScopeError) -> DeliveryViewModel? {
        try await withOutbox(within: limit) { outbox async throws(Never) in await outbox.deliver() }.get() ?? nil
    }

    /// Does something with the user's outbox, such as listing, retrying or discarding its writes.
    ///
    ///     let outbox = try await user.withOutbox { try await $0.list() }
    ///
    /// - Returns: what `body` returns; `nil` if nothing of this user outlives the process.
    /// - Throws: a `ScopeError` if the session is closed, or what `body` throws.
    public func withOutbox<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxController) async throws -> Value
    ) async throws -> Value? {
        try await withOutbox(within: nil, body).get() ?? nil
    }

    private func withOutbox<Value: Sendable, Failure: Error>(
        within limit: Duration?,
        _ body: @escaping @Sendable (OutboxController) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value?, Failure> {
        let app = try app.scope.objects()
        return try await scope.run { user async throws(Failure) -> Value? in
            guard let outbox = user.outbox?.outbox else { return nil }
            let timeLimit = limit ?? app.configuration.timeLimit
            return try await body(OutboxController(outbox, timeLimit: timeLimit, timer: app.timer))
        }
    }
}
