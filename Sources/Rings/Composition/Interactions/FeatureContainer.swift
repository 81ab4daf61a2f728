import InwardCore
public import InwardScopes

/// A container that lives as long as a user is busy with one subject, and makes an interaction for each thing to do.
public protocol FeatureContainer: Container where Level == FeatureLifetime {
    /// The interactions it makes.
    associatedtype Interactions: InteractionContainer

    /// Opens an interaction.
    ///
    /// - Parameters:
    ///   - id: The identifier that came with the request; `nil` for a number.
    ///   - limit: How much time there is for it from now on; `nil` for as much as the configuration says.
    /// - Returns: the interaction, which the caller closes.
    /// - Throws: a `ScopeError` if the feature is closed.
    func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> Interactions
}

extension FeatureContainer {
    /// Opens an interaction with a number, and as much time as the configuration says.
    ///
    /// - Throws: a `ScopeError` if the feature is closed.
    public func makeInteraction() throws(ScopeError) -> Interactions {
        try makeInteraction(id: nil, within: nil)
    }

    /// Opens an interaction, does something with it, and closes it whatever comes of that.
    ///
    /// Closing the feature, or what is around it, cancels what is being done and waits for its end.
    ///
    /// - Parameters:
    ///   - id: The identifier that came with the request; `nil` for a number.
    ///   - limit: How much time there is for it from now on, by which it is cancelled; `nil` for as much as the configuration
    ///     says.
    ///   - body: What to do with the interaction. The deadline travels with its task.
    /// - Returns: what `body` gives.
    /// - Throws: a `ScopeError` if the feature is closed, a `DeadlinePassedError`, or what `body` throws.
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
            // What was done is done, and not to be done again because something else of it has not ended in time.
            errorHandler.handle(error)
        }
        guard let result = try ending.get() else { throw DeadlinePassedError(interaction.scope.title) }
        return try result.get()
    }
}
