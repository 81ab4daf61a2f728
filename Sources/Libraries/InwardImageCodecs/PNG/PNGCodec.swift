public import InwardImages

/// Reads and writes PNG (ISO/IEC 15948, third edition), and nothing else.
public struct PNGCodec: ImageCodec {
    /// Makes a codec.
    public init() {}

    /// The header: the size, and the orientation if Exif data before the pixels contain one. The bytes may end in the pixels.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are not PNG, or if the chunks before the pixels are damaged or cut short; or if
    ///   the task was cancelled.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try PNGPreamble(bytes, allowsTruncation: true).imageHeader
    }

    /// The image in a PNG, as it is stored: as numbers of eight bits, to which those of sixteen are rounded, and taken for
    /// sRGB whatever it says of its colours (`gAMA`, `cHRM`, `iCCP`, `cICP`). What follows its last chunk is not looked at.
    ///
    /// Every checksum is checked. With `ImageDecodingOptions.allowsTruncation`, bytes that are cut short give the rows there
    /// are, and the rest is clear; the last chunk that is there in part has no checksum to be checked then.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are no PNG, damaged or cut short; or if the task was cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try PNGDecoder(bytes, allowsTruncation: options.allowsTruncation).image()
    }

    /// The bytes of an image, which are the same image again when they are decoded: with as few numbers a pixel as it needs,
    /// and with its orientation as Exif data if it is not to be shown as it is stored.
    ///
    /// - Throws: an `ImageCodecError` if something else than PNG is asked for; or if the task was cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == .png else {
            throw ImageCodecError(.unsupported(encoding.format), "cannot be written as \(encoding.format) here")
        }
        return try PNGEncoder(image).bytes()
    }
}

extension ImageCodecError {
    /// A PNG breaks a rule, which the end of a sentence says.
    static func damagedPNG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.png), explanation)
    }
}
