public import InterfaceAdapters
import InwardCore
public import InwardScopes
import UseCases

/// One look at what the upstream has.
public struct OverviewInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let source: String

    /// Asks for an overview and has it presented.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var overview: OverviewController {
        get throws(ScopeError) {
            OverviewController(
                listUsers: ListUsers(users: try users),
                readFeed: ReadFeed(posts: try posts, users: try users),
                source: source,
                stopwatch: try scope.objects().deadline.stopwatch
            )
        }
    }
}
