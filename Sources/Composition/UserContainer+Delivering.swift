public import InterfaceAdapters
import UseCases

extension UserContainer {
    /// Waits until what was accepted of this user is delivered to the upstream, or refused for good by it, for a while at most.
    ///
    /// Writes are delivered anyway, as long as the session is open: this is for whoever is about to close it.
    ///
    /// - Parameter limit: How long to wait; `nil` for as long as the configuration says that an interaction may take.
    /// - Returns: what to show; `nil` if nothing of this user outlives the process, so that nothing is accepted before it is done.
    /// - Throws: a ``ScopeError`` if the session is closed.
    public func deliver(within limit: Duration? = nil) async throws(ScopeError) -> DeliveryViewModel? {
        let app = try app.scope.objects()
        let delivery = try await scope.run { user async -> DeliveryViewModel? in
            guard let outbox = user.outbox?.outbox else { return nil }
            _ = await Deadline(in: limit ?? app.configuration.timeLimit, on: app.timer).bound { await outbox.drain() }
            return DeliveryViewModel(outbox)
        }
        return delivery.get()
    }
}
