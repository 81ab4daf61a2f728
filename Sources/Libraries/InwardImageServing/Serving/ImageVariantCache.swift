import InwardCore
import InwardFetching
import InwardImages
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An encoded image with what its response needs.
struct ImageVariant: Sendable {
    let body: Data
    let mediaType: String
    let entityTag: EntityTag
    let expiry: Date
    /// Whether this is the requested image, and may be cached.
    let isGenuine: Bool
}

extension ImageVariantKey {
    /// The version of the text of keys, and of what plugins and codecs do. Increase it if an image would look different now.
    private static let version = 1

    init(_ image: SignedImage, _ choice: ImageFormatNegotiation.Choice, version: Int, hasTypesetter: Bool = false) {
        var encodings = [choice.opaque]
        if choice.transparent != choice.opaque { encodings.append(choice.transparent) }
        let formats = encodings.map { "\($0.format.mediaType),\($0.quality),\($0.subsampling)" }.joined(separator: "+")
        // Texts look different with a typesetter.
        let text = hasTypesetter && image.recipe.hasText ? " typeset" : ""
        // Recipes have no spaces, and the address is last, so the text is unambiguous.
        self.init(
            address: image.address,
            description: "\(Self.version).\(version)\(text) \(formats) \(image.recipe) \(image.address.rawValue)"
        )
    }
}

/// The encoded images in memory, limited by their bytes.
final class ImageVariantCache: Sendable {
    /// The approximate memory that an image needs in addition to its bytes and its key.
    private static let overhead = 512

    private struct State {
        var variants: SieveCache<ImageVariantKey, ImageVariant>
        /// The number of invalidations. An image that was loaded before one is not cached after it.
        var generation = 0
    }

    private let state: Mutex<State>

    init(bytes: Int) {
        state = Mutex(State(variants: SieveCache(limit: bytes)))
    }

    /// The current generation, for ``insert(_:for:since:)``.
    var generation: Int { state.withLock(\.generation) }

    /// Returns an image unless it has expired.
    func variant(for key: ImageVariantKey, at date: Date) -> ImageVariant? {
        guard let variant = state.withLock({ $0.variants.value(for: key) }), date < variant.expiry else { return nil }
        return variant
    }

    /// Caches an image, unless images were invalidated since a generation.
    func insert(_ variant: ImageVariant, for key: ImageVariantKey, since generation: Int) {
        let cost = variant.body.count + key.description.utf8.count + Self.overhead
        // Evicted images are released outside the lock.
        _ = state.withLock { state in
            state.generation == generation ? state.variants.insert(variant, for: key, cost: cost) : []
        }
    }

    /// Removes the images that came from an address.
    func removeAll(from address: ImageAddress) {
        _ = state.withLock { state in
            state.generation += 1
            return state.variants.removeAll { key, _ in key.address == address }
        }
    }
}
