#if !Vips
public import InwardImages

/// An image codec that uses libvips. It is available if the package trait `Vips` is enabled.
///
/// This declaration replaces the codec if the trait is not enabled, so that the compiler can name the trait.
@available(
    *,
    unavailable,
    message: "Enable the trait Vips of the package: .package(url: …, from: …, traits: [\"Vips\"])"
)
public final class VipsImageCodec: ImageCodec {
    /// Accepts the same arguments as the real codec.
    public init(
        threads: Int = 1,
        effort: Int = 2,
        pixelLimit: Int = 268_435_456,
        slowPixelLimit: Int = 4_194_304
    ) {}

    /// Does nothing.
    public func close() {}

    /// Always fails.
    ///
    /// - Throws: An `ImageCodecError` with the reason `unrecognized`.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        throw ImageCodecError(.unrecognized, "cannot be processed: the trait Vips is not enabled")
    }

    /// Always fails.
    ///
    /// - Throws: An `ImageCodecError` with the reason `unrecognized`.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        throw ImageCodecError(.unrecognized, "cannot be processed: the trait Vips is not enabled")
    }

    /// Always fails.
    ///
    /// - Throws: An `ImageCodecError` with the reason `unsupported`.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        throw ImageCodecError(.unsupported(encoding.format), "cannot be processed: the trait Vips is not enabled")
    }
}
#endif
