public import InterfaceAdapters
public import InwardCore
import InwardImages
public import InwardScopes
import UseCases

/// A gallery of the upstream's user images, as several image loaders return them.
public struct GalleryContainer: FeatureContainer {
    /// The objects of a gallery container: none.
    public struct Objects: Sendable {}

    /// The scope of the gallery.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates a gallery in a user's session.
    ///
    /// - Throws: a `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("gallery", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that shows the gallery once.
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

/// An interaction that shows the gallery once.
public struct GalleryInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let images: ImageLoader
    let codec: any ImageCodec
    let source: String

    /// Loads and presents the images: plain, with a watermark, and with a placeholder in place of failures.
    ///
    /// Two additional addresses show failures: nothing exists at one, and the other is not an image.
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
