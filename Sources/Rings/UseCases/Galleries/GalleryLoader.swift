public import InwardImages

/// A loader, and what it is called where several are compared.
public struct GalleryLoader: Sendable {
    let name: String
    let loader: ImageLoader

    /// Names a loader.
    public init(_ name: String, _ loader: ImageLoader) {
        self.name = name
        self.loader = loader
    }
}
