public import InterfaceAdapters
import InwardCore
import InwardImages
public import InwardScopes
import UseCases

/// A look at the images of the upstream's users, as different loaders give them.
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

/// One look at the images of the upstream's users.
public struct GalleryInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let images: ImageLoader
    let codec: any ImageCodec
    let source: String

    /// Loads the images and has them presented: as they are, with a watermark, and with a placeholder where there is none. Of
    /// two addresses, one has nothing and one no image.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var gallery: GalleryController {
        get throws(ScopeError) {
            GalleryController(
                showGallery: ShowGallery(
                    users: ListUsers(users: try users),
                    loaders: GalleryController.loaders(over: images),
                    codec: codec,
                    others: GalleryController.others,
                    avatar: ImageAddress.avatar
                ),
                source: source,
                stopwatch: try scope.objects().deadline.stopwatch
            )
        }
    }
}
