import InterfaceAdapters
import UseCases

extension InteractionContainer {
    /// The users, as long as the interaction is open.
    var users: UpstreamUserRepository {
        get throws(ScopeError) { UpstreamUserRepository(upstream: try upstream) }
    }

    /// The posts, as long as the interaction is open.
    var posts: UpstreamPostRepository {
        get throws(ScopeError) { UpstreamPostRepository(upstream: try upstream) }
    }
}
