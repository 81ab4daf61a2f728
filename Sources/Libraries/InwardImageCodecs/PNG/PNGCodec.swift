public import InwardImages

/// An image codec for PNG (ISO/IEC 15948, third edition).
public struct PNGCodec: ImageCodec {
    /// Creates a codec.
    public init() {}

    /// Returns the header: the size, and the orientation if Exif data before the pixels contain one. The bytes may end within the
    /// pixels.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are not PNG, or if the chunks before the pixels are damaged or truncated; or
    ///   if the task was cancelled.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try PNGPreamble(bytes, allowsTruncation: true).imageHeader
    }

    /// Decodes a PNG as it is stored. 16-bit samples are rounded to 8 bits, and colours are treated as sRGB regardless of the
    /// file's colour information (`gAMA`, `cHRM`, `iCCP`, `cICP`). Data after the last chunk are ignored.
    ///
    /// Every checksum is verified. With `ImageDecodingOptions.allowsTruncation`, truncated data yield the complete rows, and the
    /// rest is transparent. The checksum of a truncated last chunk cannot be verified.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are not PNG, or are damaged or truncated; or if the task was cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try PNGDecoder(bytes, allowsTruncation: options.allowsTruncation).image()
    }

    /// Encodes an image losslessly, with as few samples per pixel as it needs. An orientation other than the default is stored as
    /// Exif data.
    ///
    /// - Throws: an `ImageCodecError` if a format other than PNG is requested; or if the task was cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == .png else {
            throw ImageCodecError(.unsupported(encoding.format), "cannot be written as \(encoding.format) here")
        }
        return try PNGEncoder(image).bytes()
    }
}

extension ImageCodecError {
    /// Returns an error for a PNG that violates the standard; the explanation is the end of a sentence.
    static func damagedPNG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.png), explanation)
    }
}
