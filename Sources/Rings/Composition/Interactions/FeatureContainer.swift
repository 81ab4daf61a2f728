import InwardCore
public import InwardScopes

/// A container that lives while a user works with one feature, and creates an interaction for each operation.
public protocol FeatureContainer: Container where Level == FeatureLifetime {
    /// The type of the interactions that the feature creates.
    associatedtype Interactions: InteractionContainer

    /// Opens an interaction, for a caller that needs more than ``withInteraction(id:within:_:)``.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil` for a sequential number.
    ///   - limit: The time limit, from now on; `nil` for the configured limit.
    /// - Returns: the interaction, which the caller closes.
    /// - Throws: a `ScopeError` if the feature is closed.
    func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> Interactions
}

extension FeatureContainer {
    /// Opens an interaction with a sequential number as its identifier and the configured time limit.
    ///
    /// - Throws: a `ScopeError` if the feature is closed.
    public func makeInteraction() throws(ScopeError) -> Interactions {
        try makeInteraction(id: nil, within: nil)
    }

    /// Opens an interaction, runs a closure with it, and closes the interaction, even if the closure throws.
    ///
    ///     let page = try await feed.withInteraction(within: .seconds(5)) { try await $0.readFeed(FeedQuery()) }
    ///
    /// Closing the feature, or a scope around it, cancels the closure and waits until it has ended.
    ///
    /// - Parameters:
    ///   - id: The identifier of the request; `nil` for a sequential number.
    ///   - limit: The time limit, from now on, after which the closure is cancelled; `nil` for the configured limit.
    ///   - body: The work to do with the interaction. Its task carries the deadline.
    /// - Returns: the value that `body` returns.
    /// - Throws: a `ScopeError` if the feature is closed, a `DeadlinePassedError` if the time limit passes, or the error that
    ///   `body` throws.
    public func withInteraction<Value: Sendable>(
        id: InteractionID? = nil,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (Interactions) async throws -> Value
    ) async throws -> Value {
        let interaction = try makeInteraction(id: id, within: limit)
        let errorHandler = try interaction.scope.objects().errorHandler
        let ending = await Result(awaiting: { () async throws(ScopeError) in try await interaction.perform(body) })
        do {
            try await interaction.close()
        } catch {
            // The result stands. A retry because the interaction did not close in time would repeat the work.
            errorHandler.handle(error)
        }
        guard let result = try ending.get() else { throw DeadlinePassedError(interaction.scope.title) }
        return try result.get()
    }
}
