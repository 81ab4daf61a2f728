public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A port for a store of the images that a server has encoded. It outlives the process, or is shared by several instances of a
/// service.
///
/// ```swift
/// actor InMemoryImages: EncodedImageStore {
///     private var images: [ImageVariantKey: StoredImage] = [:]
///
///     func image(for key: ImageVariantKey) -> StoredImage? { images[key] }
///     func insert(_ image: StoredImage, for key: ImageVariantKey) { images[key] = image }
///     func removeImage(for key: ImageVariantKey) { images[key] = nil }
///     func removeImages(from address: ImageAddress) { images = images.filter { $0.key.address != address } }
/// }
/// ```
///
/// A store returns an image as it was inserted, or not at all: an image that is damaged or incomplete is missing. It may drop any
/// image at any time, and drops each one sooner or later after its expiry.
///
/// Calls may run concurrently, and must end: requests wait for them. They should end early if the task is cancelled. If a call
/// fails, the server reports the error and continues without the store.
///
/// Test an implementation with `EncodedImageStoreConformance` of the product `InwardTesting`.
public protocol EncodedImageStore: Sendable {
    /// Returns the image for a key, or `nil` if there is none.
    ///
    /// - Throws: An ``EncodedImageStoreError`` if the store cannot tell.
    func image(for key: ImageVariantKey) async throws(EncodedImageStoreError) -> StoredImage?

    /// Stores an image for a key, in place of the one that is there.
    ///
    /// - Throws: An ``EncodedImageStoreError`` if the image may not have been stored.
    func insert(_ image: StoredImage, for key: ImageVariantKey) async throws(EncodedImageStoreError)

    /// Removes the image for a key, if there is one.
    ///
    /// - Throws: An ``EncodedImageStoreError`` if the image may not have been removed.
    func removeImage(for key: ImageVariantKey) async throws(EncodedImageStoreError)

    /// Removes all images that came from an address.
    ///
    /// - Throws: An ``EncodedImageStoreError`` if an image may not have been removed.
    func removeImages(from address: ImageAddress) async throws(EncodedImageStoreError)
}

/// The key of an encoded image: the address, the recipe, the format with its quality, and the version of the server's results.
///
/// ```swift
/// func path(of key: ImageVariantKey, hash: (String) -> String) -> String {
///     "\(hash(key.address.rawValue))/\(hash(key.description)).image"
/// }
/// ```
public struct ImageVariantKey: Hashable, Sendable, CustomStringConvertible {
    /// The address that the image comes from. It can contain secrets.
    public let address: ImageAddress
    /// The key as text, with the complete address. It is the same in every process. A server gives different keys different texts.
    public let description: String

    /// Creates a key. Servers create the keys of their images. Use this for tests of a store.
    ///
    /// - Parameters:
    ///   - address: The address that the image comes from.
    ///   - description: The key as text.
    public init(address: ImageAddress, description: String) {
        self.address = address
        self.description = description
    }
}

/// An encoded image in an ``EncodedImageStore``.
public struct StoredImage: Hashable, Sendable {
    /// The bytes.
    public let bytes: Data
    /// The media type, such as `image/webp`.
    public let mediaType: String
    /// The date from which the image is no longer served.
    public let expiry: Date

    /// Creates an image for a store.
    public init(bytes: Data, mediaType: String, expiry: Date) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.expiry = expiry
    }
}

/// A failure of an ``EncodedImageStore``.
public struct EncodedImageStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened and what to do, as a sentence.
    public let explanation: String

    /// Creates an error.
    public init(explanation: String) {
        self.explanation = explanation
    }

    /// The explanation.
    public var description: String { explanation }
}
