import InwardCore
import InwardScopes

extension Scope where Level == InteractionLifetime, Objects == Interaction {
    /// Asks a repository of the interaction, as long as it is open and its deadline has not passed: what is under way then is
    /// cancelled, and afterwards nobody is asked.
    ///
    /// - Parameters:
    ///   - request: What is asked for, as messages say it.
    ///   - writes: Whether something may have been done where there is no answer.
    ///   - ask: Asks.
    /// - Returns: the answer.
    /// - Throws: what `ask` throws, or a `RepositoryError` that says that it came too late.
    func asking<Value: Sendable>(
        _ request: String,
        writes: Bool = false,
        _ ask: @escaping @Sendable (Interaction) async throws(RepositoryError) -> Value
    ) async throws(RepositoryError) -> Value {
        let result: Result<Result<Value, RepositoryError>?, Never>
        do {
            result = try await run { interaction in
                await interaction.deadline.bound { () async throws(RepositoryError) in try await ask(interaction) }
            }
        } catch {
            guard error.workBegan else {
                throw RepositoryError(.closed, request: request, explanation: "was not asked for: \(error)")
            }
            throw RepositoryError(
                writes ? .outcomeUnknown : .unavailable,
                request: request,
                explanation: "came to an end too late: \(error)"
            )
        }
        guard let answer = result.get() else {
            throw RepositoryError(
                writes ? .outcomeUnknown : .unavailable,
                request: request,
                explanation: "was not answered before the deadline",
                canRetry: !writes
            )
        }
        return try answer.get()
    }
}
