public import InterfaceAdapters
public import InwardScopes

/// The users, and what each of them has written, for somebody who is looking at them.
public struct UsersContainer: FeatureContainer {
    /// What a container of the users holds.
    public struct Objects: Sendable {
        let router: any Router
    }

    /// The scope of the users.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins to look at users.
    ///
    /// - Parameters:
    ///   - user: The session of who looks at them.
    ///   - router: What makes links for the medium they are looked at in.
    /// - Throws: a `ScopeError` if the session is closed.
    public init(in user: UserContainer, router: any Router) throws(ScopeError) {
        self.user = user
        scope = try Scope("users", in: user.scope, objects: Objects(router: router))
    }

    /// Opens an interaction that looks at the users, or one of them, once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> UsersInteraction {
        UsersInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            router: try scope.objects().router
        )
    }
}
