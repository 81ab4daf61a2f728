public import InwardCore

/// A port for a cache of processed images in encoded form, such as a disk cache.
///
/// It belongs to one loader and the copies of that loader. The loader looks up an image before it fetches, and offers
/// each finished image to the cache. The implementation decides what it keeps, where, and for how long. Every load
/// waits for its calls.
public protocol ImageDataCache: Sendable {
    /// Returns the cached bytes of an image, or `nil` if there are none.
    func bytes(of image: ImageKey) async -> [UInt8]?

    /// Offers the bytes of an image to the cache.
    func keep(_ bytes: [UInt8], of image: ImageKey) async

    /// Removes all images that came from an address, or all images.
    func forget(_ address: ImageAddress?) async
}

/// The cache key of an image: its address, and the processing that was applied.
///
/// Loaders create keys. A key is valid only while the process runs.
public struct ImageKey: Hashable, Sendable {
    /// The address that the image came from.
    public let address: ImageAddress
    /// The plugins that were applied.
    public let plugins: PluginCollection<ImageResult>
    /// The reduction that the image was decoded with, or `nil` if it follows from the plugins.
    let reduction: Int?
}
