public import InterfaceAdapters
import InwardCore
import InwardImages
public import InwardScopes
import UseCases

/// One look at the pictures of the upstream's users.
public struct GalleryInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let images: ImageLoader
    let codec: any ImageCodec
    let source: String

    /// Loads the pictures and has them presented: as they are, with a watermark, and with a placeholder where there is none. Of
    /// two addresses, one has nothing and one no picture.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var gallery: GalleryController {
        get throws(ScopeError) {
            GalleryController(
                showGallery: ShowGallery(
                    users: ListUsers(users: try users),
                    loaders: loaders,
                    codec: codec,
                    others: [("Nobody", "avatars/0.jpg"), ("Something that is no picture", "users")],
                    avatar: ImageAddress.avatar
                ),
                source: source,
                stopwatch: try scope.objects().deadline.stopwatch
            )
        }
    }

    private var loaders: [GalleryLoader] {
        var plain = images
        plain.addPlugin(Resize(width: 240, height: 240))
        var marked = plain
        marked.addPlugin(Watermark(.text("Inward", .white), width: .ofWidth(0.4)))
        var filled = marked
        filled.addPlugin(Placeholder(size: ImageSize(clamping: 240, 240)))
        return [
            GalleryLoader("Plain", plain), GalleryLoader("Watermark", marked),
            GalleryLoader("Watermark and placeholder", filled),
        ]
    }
}
