import InwardCore
public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an image server sends in place of an image that it cannot load.
///
/// ```swift
/// let gray = ErrorPlaceholder.color(Color(gray: 224))
///
/// func makePlaceholder(_ logo: Data) -> ErrorPlaceholder {
///     .image(logo, mediaType: "image/png")
/// }
/// ```
///
/// The response has the status of the error and must not be cached, so the image appears as soon as it can be loaded.
public enum ErrorPlaceholder: Hashable, Sendable {
    /// A JSON document with the problem (RFC 9457). Browsers show the alternative text of the image.
    case problem
    /// An image of one color, in the size that the recipe states. The longer side has at most 1,024 pixels, because a browser
    /// scales the placeholder anyway.
    case color(Color)
    /// An encoded image.
    case image(Data, mediaType: String)
}

/// Encodes placeholders of one color, and keeps them.
///
/// It encodes one at a time, so that many failures at once need little memory.
actor PlaceholderEncoder {
    private struct Key: Hashable {
        let color: Color
        let size: ImageSize
    }

    private static let maximumSide = 1_024
    private static let defaultSize = ImageSize(clamping: 320, 240)

    private let codec: any ImageCodec
    private let formats: ImageFormatNegotiation
    private var bodies = SieveCache<Key, Data>(limit: 1_024 * 1_024, countLimit: 256)

    init(codec: any ImageCodec, formats: ImageFormatNegotiation) {
        self.codec = codec
        self.formats = formats
    }

    /// Returns an encoded image of one color and its media type, or `nil` if it cannot be encoded.
    func placeholder(_ color: Color, for recipe: ImageRecipe) -> (body: Data, mediaType: String)? {
        let size = Self.limited(recipe.size ?? Self.defaultSize)
        let key = Key(color: color, size: size)
        let encoding = color.alpha == 255 ? formats.opaque : formats.transparent ?? formats.opaque
        if let body = bodies.value(for: key) { return (body, encoding.format.mediaType) }
        guard let bytes = try? codec.bytes(of: Image(size: size, color: color), as: encoding) else { return nil }
        let body = Data(bytes)
        bodies.insert(body, for: key, cost: body.count)
        return (body, encoding.format.mediaType)
    }

    private static func limited(_ size: ImageSize) -> ImageSize {
        guard size.longerSide > maximumSide else { return size }
        return ImageSize(
            clamping: size.width * maximumSide / size.longerSide,
            size.height * maximumSide / size.longerSide
        )
    }
}
