import InwardScopes
import UseCases

extension InteractionContainer {
    /// The users, as long as the interaction is open.
    var users: any UserRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedUserRepository(scope: scope)
        }
    }

    /// The posts, as long as the interaction is open.
    var posts: any PostRepository {
        get throws(ScopeError) {
            _ = try scope.objects()
            return ScopedPostRepository(scope: scope)
        }
    }
}
