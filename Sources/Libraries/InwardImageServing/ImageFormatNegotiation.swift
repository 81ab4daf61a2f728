public import InwardImages

/// The choice of the format of an image from the field `Accept` of a request (RFC 9110 section 12.5.1).
///
/// ```swift
/// let formats = ImageFormatNegotiation(
///     preferring: [ImageEncoding(.avif, quality: 55), ImageEncoding(.webP, quality: 75)],
///     opaque: .jpeg(quality: 82),
///     transparent: .png
/// )
/// let choice = formats.choice(accept: ["image/avif,image/webp,*/*;q=0.8"])
/// print(choice.opaque.format)  // AVIF
/// ```
///
/// A preferred format is chosen only if the field names it, as in `image/webp`. Many clients send `image/*` or `*/*` and cannot
/// read such formats, so wildcards select only the formats that all clients can read: ``opaque``, or ``transparent`` for an image
/// with transparent pixels.
///
/// The format with the highest quality value wins, and the server's order decides between equal ones. If the client accepts no
/// format, it gets the same as a client that accepts all. Browsers show the image anyway, and an error would help nobody.
public struct ImageFormatNegotiation: Hashable, Sendable {
    /// The encodings that a client must name to get, in order of preference.
    public let preferred: [ImageEncoding]
    /// The encoding of opaque images for clients that accept none of the preferred formats.
    public let opaque: ImageEncoding
    /// The encoding of images with transparent pixels for these clients, or `nil` to encode them as opaque ones.
    public let transparent: ImageEncoding?

    /// Creates a choice of formats. The codec of the server must be able to write all of them.
    ///
    /// - Parameters:
    ///   - preferred: The encodings that a client must name to get, in order of preference.
    ///   - opaque: The encoding of opaque images for clients that accept none of the preferred formats.
    ///   - transparent: The encoding of images with transparent pixels for these clients, or `nil` to encode them as opaque ones.
    public init(
        preferring preferred: [ImageEncoding] = [],
        opaque: ImageEncoding = .jpeg(quality: 82),
        transparent: ImageEncoding? = .png
    ) {
        self.preferred = preferred
        self.opaque = opaque
        self.transparent = transparent
    }

    /// The chosen encoding. It may depend on whether the image is opaque, which is not known before it is loaded.
    public struct Choice: Hashable, Sendable {
        /// The encoding for an opaque image.
        public let opaque: ImageEncoding
        /// The encoding for an image with transparent pixels.
        public let transparent: ImageEncoding

        /// Returns the encoding for an image.
        ///
        /// - Complexity: O(n) in the number of pixels if the encoding depends on them.
        public func encoding(for image: Image) -> ImageEncoding {
            opaque == transparent || image.isOpaque ? opaque : transparent
        }
    }

    /// Returns the encoding for a request.
    ///
    /// - Parameter values: The values of the field `Accept`; empty if the request does not have it. Malformed members are
    ///   ignored, and so is a field of more than 4,096 bytes.
    /// - Returns: The encoding, which may depend on whether the image is opaque.
    public func choice(accept values: [String]) -> Choice {
        let accepted = AcceptedMediaTypes(values)
        let fallback = Choice(opaque: opaque, transparent: transparent ?? opaque)
        let opaqueQuality = accepted.quality(of: opaque.format.mediaType)
        let transparentQuality = accepted.quality(of: fallback.transparent.format.mediaType)
        var best: (choice: Choice, quality: Int) = (fallback, 0)
        for encoding in preferred {
            let quality = accepted.quality(of: encoding.format.mediaType, mentioned: true)
            if quality > best.quality { best = (Choice(opaque: encoding, transparent: encoding), quality) }
        }
        guard max(opaqueQuality, transparentQuality) > best.quality else { return best.choice }
        // A client that accepts only one of the two gets it in any case.
        if opaqueQuality == 0 { return Choice(opaque: fallback.transparent, transparent: fallback.transparent) }
        if transparentQuality == 0 { return Choice(opaque: opaque, transparent: opaque) }
        return fallback
    }
}
