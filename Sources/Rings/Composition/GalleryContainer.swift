public import InterfaceAdapters
public import InwardCore
import InwardImages
public import InwardScopes
import UseCases

/// The feature that shows the images of the users, as several image loaders return them.
///
/// ```swift
/// let gallery = try GalleryContainer(in: user)
/// let images = try await gallery.withInteraction(within: .seconds(60)) { try await $0.gallery() }
/// print(images.provenance)
/// ```
public struct GalleryContainer: FeatureContainer {
    /// The objects of a gallery container: none.
    public struct Objects: Sendable {}

    /// The scope of the gallery.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates the feature in a user's session.
    ///
    /// - Throws: A `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("gallery", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that shows the gallery once.
    ///
    /// - Throws: A `ScopeError` if the container is closed.
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
///
/// ```swift
/// let gallery = try GalleryContainer(in: user)
/// let images = try await gallery.withInteraction(within: .seconds(60)) { interaction in
///     try await interaction.gallery { progress in print(progress) }
/// }
/// ```
public struct GalleryInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let images: ImageLoader
    let codec: any ImageCodec
    let source: String

    /// Loads and presents the images: plain, with a watermark, and with a placeholder in place of failures.
    ///
    /// Two more addresses show what failures look like: one where nothing exists, and one that is not an image.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var gallery: GalleryController {
        get throws(ScopeError) {
            GalleryController(
                showGallery: ShowGallery(
                    users: ListUsers(users: try users, order: try scope.objects().userOrder),
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
