public import InwardCore

/// Keeps pictures that were loaded and processed, encoded, for when they are asked for again.
///
/// It belongs to one loader and the copies of it. It is asked before a picture is fetched, and told when one is done. What it
/// keeps, for how long and where, is its own affair. Every load waits for it.
public protocol ImageDataCache: Sendable {
    /// The bytes of a picture, as they were kept; `nil` if there are none.
    func bytes(of picture: ImageKey) async -> [UInt8]?

    /// Keeps the bytes of a picture, if it wants to.
    func keep(_ bytes: [UInt8], of picture: ImageKey) async

    /// Forgets all pictures that came from an address, or all pictures.
    func forget(_ address: ImageAddress?) async
}

/// What a picture is kept under: where it came from, and all that was done to it.
///
/// Nobody writes it by hand: a plugin is its value. It is of use for as long as the program runs.
public struct ImageKey: Hashable, Sendable {
    /// Where the picture came from.
    public let address: ImageAddress
    /// What was done to it.
    public let plugins: PluginCollection<ImageResult>
    /// What its sides were divided by while it was decoded; `nil` where the plugins say so.
    let reduction: Int?
}
