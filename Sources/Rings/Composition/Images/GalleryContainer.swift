public import InwardScopes

/// A look at the pictures of the upstream's users, as different loaders give them.
public struct GalleryContainer: FeatureContainer {
    /// What a container of the gallery holds: nothing of its own.
    public struct Objects: Sendable {}

    /// The scope of the gallery.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins to look.
    ///
    /// - Throws: a `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("gallery", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that looks at it once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> GalleryInteraction {
        GalleryInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            images: try user.images,
            codec: try user.app.imageCodec,
            source: user.app.upstreamName
        )
    }
}
