public import InwardImages

/// An image codec for PNG (ISO/IEC 15948, third edition).
///
/// ```swift
/// let image = Image(size: ImageSize(clamping: 64, 64), color: .white)
/// let png = try PNGCodec().bytes(of: image, as: .png)
/// ```
public struct PNGCodec: ImageCodec {
    /// Creates a codec.
    public init() {}

    /// Returns the header: the size, and the orientation if Exif data before the pixels contains one. Truncated pixel
    /// data is not an error here.
    ///
    /// - Throws: An `ImageCodecError` if the data is not PNG, if the chunks before the pixels are damaged or truncated, or if
    ///   the task is cancelled.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try PNGPreamble(bytes, allowsTruncation: true).imageHeader
    }

    /// Decodes a PNG without applying its orientation.
    ///
    /// 16-bit samples are rounded to 8 bits. Colors are treated as sRGB, regardless of the file's color information (`gAMA`,
    /// `cHRM`, `iCCP`, `cICP`). Data after the last chunk is ignored. Every checksum is verified.
    ///
    /// With `ImageDecodingOptions.allowsTruncation`, the missing rows of truncated data are transparent. The checksum of a
    /// truncated last chunk cannot be verified. An image of more than 256 MiB still fails if its data is far too short for
    /// its size.
    ///
    /// - Throws: An `ImageCodecError` if the data is not PNG, if it is damaged or truncated, or if the task is cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try PNGDecoder(bytes, allowsTruncation: options.allowsTruncation).image()
    }

    /// Encodes an image losslessly, in the pixel format that needs the fewest bytes. An orientation other than `up` is stored
    /// as Exif data.
    ///
    /// - Throws: An `ImageCodecError` if another format is requested, if a side is longer than 2,147,483,647 pixels, or if the
    ///   task is cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == .png else {
            throw ImageCodecError(.unsupported(encoding.format), "cannot be encoded as \(encoding.format) by PNGCodec")
        }
        return try PNGEncoder(image).bytes()
    }
}

extension ImageCodecError {
    /// Returns an error for a PNG that violates the standard.
    static func damagedPNG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.png), explanation)
    }
}
