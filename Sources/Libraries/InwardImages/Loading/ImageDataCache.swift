public import InwardCore

/// Keeps images that were loaded and processed, encoded, for when they are asked for again.
///
/// It belongs to one loader and the copies of it. It is asked before an image is fetched, and told when one is done. What it
/// keeps, for how long and where, is its own affair. Every load waits for it.
public protocol ImageDataCache: Sendable {
    /// The bytes of an image, as they were kept; `nil` if there are none.
    func bytes(of image: ImageKey) async -> [UInt8]?

    /// Keeps the bytes of an image, if it wants to.
    func keep(_ bytes: [UInt8], of image: ImageKey) async

    /// Forgets all images that came from an address, or all images.
    func forget(_ address: ImageAddress?) async
}

/// What an image is kept under: where it came from, and all that was done to it.
///
/// Nobody writes it by hand: a plugin is its value. It is of use for as long as the program runs.
public struct ImageKey: Hashable, Sendable {
    /// Where the image came from.
    public let address: ImageAddress
    /// What was done to it.
    public let plugins: PluginCollection<ImageResult>
    /// What its sides were divided by while it was decoded; `nil` where the plugins say so.
    let reduction: Int?
}
