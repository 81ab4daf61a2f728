public import InwardImages

/// Reads and writes the forms of pictures that need nothing but Swift: PNG and JPEG.
public struct SwiftImageCodec: ImageCodec {
    /// What the codec behind the trait Vips reads and writes beside those.
    private static let vipsFormats: Set<ImageFormat> = [.webP, .gif, .avif, .heif, .tiff]

    private let codecs: [ImageFormat: any ImageCodec]

    /// Makes a codec.
    public init() {
        codecs = [.png: PNGCodec(), .jpeg: JPEGCodec()]
    }

    /// What encoded bytes say of the picture in them, without decoding it.
    ///
    /// - Throws: an `ImageCodecError` if they are neither PNG nor JPEG, or damaged at the beginning.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try codec(reading: bytes).header(of: bytes)
    }

    /// The picture in encoded bytes, as it is stored: its orientation is not applied.
    ///
    /// - Throws: an `ImageCodecError` if they are neither PNG nor JPEG, damaged, or cut short; or if the task was cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try codec(reading: bytes).image(from: bytes, options)
    }

    /// The bytes of a picture in a form, as it is stored.
    ///
    /// - Throws: an `ImageCodecError` if the form is neither PNG nor JPEG, or the picture does not fit into it; or if the task
    ///   was cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard let codec = codecs[encoding.format] else {
            throw ImageCodecError(
                .unsupported(encoding.format),
                Self.vipsFormats.contains(encoding.format)
                    ? "cannot be written as \(encoding.format), which is written with the trait Vips enabled"
                    : "cannot be written as \(encoding.format), which no codec here writes"
            )
        }
        return try codec.bytes(of: image, as: encoding)
    }

    private func codec(reading bytes: [UInt8]) throws(ImageCodecError) -> any ImageCodec {
        guard let format = ImageFormat(signatureOf: bytes) else {
            throw ImageCodecError(
                .unrecognized,
                // It may be anything, such as a page or a record with a secret in it, so it is not quoted.
                "is not in a known image format: its \(bytes.count) bytes do not begin with the signature of one"
            )
        }
        guard let codec = codecs[format] else {
            throw ImageCodecError(
                .unsupported(format),
                Self.vipsFormats.contains(format)
                    ? "is in \(format), which is read with the trait Vips enabled"
                    : "is in \(format), which no codec here reads"
            )
        }
        return codec
    }
}
