import InterfaceAdapters
import UseCases

/// A container that lives as long as one request or one command.
public protocol InteractionContainer: Container where Level == InteractionLifetime, Objects == Interaction {}

extension InteractionContainer {
    /// What tells this interaction from others; the name of its scope.
    public var id: InteractionID { InteractionID(scope.name) }

    /// What the interaction's repositories ask: the user's upstream, until the deadline or the end of the scope.
    ///
    /// - Throws: a ``ScopeError`` if the interaction is closed.
    var upstream: Upstream {
        get throws(ScopeError) {
            let interaction = try scope.objects()
            return interaction.upstream.asked(
                through: ScopedDataFetcher(scope: scope, deadline: interaction.deadline) { $0.upstream.dataFetcher }
            )
        }
    }
}
