public import InwardImages

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The lifetimes and limits of an image server.
///
/// ```swift
/// let policy = ImageServingPolicy(
///     maximumAge: .seconds(7 * 86_400),
///     cacheBytes: 256 * 1_024 * 1_024,
///     limits: ImageLimits(encodedBytes: 16 * 1_024 * 1_024, pixels: 24_000_000),
///     placeholder: .color(Color(gray: 224))
/// )
/// ```
public struct ImageServingPolicy: Hashable, Sendable {
    /// How long an encoded image is served after it was made, here and from the caches of clients and of networks.
    public var maximumAge: Duration
    /// The maximum number of bytes of the encoded images in memory.
    public var cacheBytes: Int
    /// The maximum number of bytes of the decoded images in memory, for requests that follow closely. Zero also turns off the
    /// memory of addresses without an image.
    public var decodedBytes: Int
    /// The limits for originals.
    public var limits: ImageLimits
    /// What is sent in place of an image that cannot be loaded.
    public var placeholder: ErrorPlaceholder
    /// A number that is part of the keys of encoded images. Change it if images would look different now, such as after a change
    /// of the codec. The server then finds none of the images that it stored before.
    public var version: Int

    /// Creates a policy. By default, images are served for one day.
    public init(
        maximumAge: Duration = .seconds(86_400),
        cacheBytes: Int = 64 * 1_024 * 1_024,
        decodedBytes: Int = 16 * 1_024 * 1_024,
        limits: ImageLimits = ImageLimits(),
        placeholder: ErrorPlaceholder = .problem,
        version: Int = 1
    ) {
        self.maximumAge = maximumAge
        self.cacheBytes = cacheBytes
        self.decodedBytes = decodedBytes
        self.limits = limits
        self.placeholder = placeholder
        self.version = version
    }

    /// The maximum age in seconds, at least zero and at most ten years.
    var lifetime: TimeInterval { min(max(0, Double(maximumAge.components.seconds)), 315_360_000) }
}
