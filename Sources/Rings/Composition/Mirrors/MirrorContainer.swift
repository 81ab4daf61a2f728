public import InwardScopes

/// The making of a mirror of the upstream, for somebody who wants to have it without a network.
public struct MirrorContainer: FeatureContainer {
    /// What a container of the mirror holds: nothing of its own.
    public struct Objects: Sendable {}

    /// The scope of the mirror.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins.
    ///
    /// - Throws: a `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("mirror", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that makes it once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> MirrorInteraction {
        MirrorInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            source: user.app.upstreamName
        )
    }
}
