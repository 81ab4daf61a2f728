public import InwardScopes

/// A first look at what the upstream has.
public struct OverviewContainer: FeatureContainer {
    /// What a container of the overview holds: nothing of its own.
    public struct Objects: Sendable {}

    /// The scope of the overview.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins to look.
    ///
    /// - Throws: a `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("overview", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that looks at it once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> OverviewInteraction {
        OverviewInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            source: user.app.upstreamName
        )
    }
}
