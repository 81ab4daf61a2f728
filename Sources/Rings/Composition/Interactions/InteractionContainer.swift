import InwardCore
public import InwardRepositories
public import InwardScopes

/// A container that lives as long as one request or one command.
public protocol InteractionContainer: Container where Level == InteractionLifetime, Objects == Interaction {}

extension InteractionContainer {
    /// What tells this interaction from others; the name of its scope.
    public var id: InteractionID { InteractionID(scope.name) }

    /// What the interaction's repositories ask: the user's upstream, until the deadline or the end of the scope.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var upstream: Upstream {
        get throws(ScopeError) {
            let interaction = try scope.objects()
            return interaction.upstream.asked(
                through: ScopedDataFetcher(scope: scope, deadline: interaction.deadline) { $0.upstream.dataFetcher }
            )
        }
    }

    /// Does what the interaction is for, as work of its scope and by its deadline, which travels with the task.
    ///
    /// - Returns: how that ended; `nil` if the deadline passed first.
    /// - Throws: a `ScopeError` if the interaction is closed, or was closed without waiting for the end.
    public func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (Self) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value, Failure>? {
        let result = try await scope.run { interaction in
            await interaction.deadline.bound { () async throws(Failure) in try await work(self) }
        }
        return switch result {
        case .success(let ending): ending
        }
    }
}
