#if !Vips
public import InwardImages

/// Reads and writes images by libvips, where the trait `Vips` of the package is enabled.
///
/// Without the trait this stands in its place, so that whoever uses it is told by the compiler what to enable.
@available(
    *,
    unavailable,
    message: "Enable the trait Vips of the package: .package(url: …, from: …, traits: [\"Vips\"])"
)
public final class VipsImageCodec: ImageCodec {
    /// Takes what the codec takes where there is one.
    public init(
        threads: Int = 1,
        effort: Int = 2,
        pixelLimit: Int = 268_435_456,
        slowPixelLimit: Int = 4_194_304
    ) {}

    /// Closes nothing.
    public func close() {}

    /// Reads nothing.
    ///
    /// - Throws: an `ImageCodecError` with the reason `unrecognized`.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        throw ImageCodecError(.unrecognized, "was given to a codec that is not built in")
    }

    /// Reads nothing.
    ///
    /// - Throws: an `ImageCodecError` with the reason `unrecognized`.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        throw ImageCodecError(.unrecognized, "was given to a codec that is not built in")
    }

    /// Writes nothing.
    ///
    /// - Throws: an `ImageCodecError` with the reason `unsupported`.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        throw ImageCodecError(.unsupported(encoding.format), "was given to a codec that is not built in")
    }
}
#endif
