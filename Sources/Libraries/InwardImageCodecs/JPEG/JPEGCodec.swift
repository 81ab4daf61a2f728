public import InwardImages

/// Reads and writes JPEG (ITU-T T.81), as JFIF and Exif files hold it.
///
/// It reads sequential and progressive images of 8 bits with Huffman codes, in grey, YCbCr, RGB, CMYK and YCCK, and none with
/// arithmetic codes, of 12 bits, lossless or hierarchical. Colours are taken for sRGB: profiles are not read. It writes baseline
/// images.
public struct JPEGCodec: ImageCodec {
    /// Makes a codec, which holds nothing.
    public init() {}

    /// What a JPEG file says of its image.
    ///
    /// It can be reduced by 2, 4 and 8 while it is decoded. Decoding takes a few rows of blocks beside the image; all of the
    /// coefficients, 2 bytes for each sample, if it is progressive or its components come one after the other. That does not
    /// become less where it is reduced.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are no JPEG file, or one that cannot be read; or if the task was cancelled.
    /// - Complexity: O(n) in the number of bytes before the first scan.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        var decoder = JPEGDecoder()
        return try decoder.header(in: bytes.span)
    }

    /// The image in a JPEG file, without anything to see through.
    ///
    /// Bytes that are cut short, if only by the marker at the end, give the blocks that were read, and grey for the others, if
    /// the options allow it. Where they end before the first block, there is no image.
    ///
    /// - Throws: an `ImageCodecError` that says where the file breaks the rules, or that it ends early; or that the task was
    ///   cancelled, which it looks for at each segment and at each row of blocks.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        var decoder = JPEGDecoder()
        return try decoder.image(in: bytes.span, options)
    }

    /// The bytes of an image as a baseline JPEG file; in grey if it has no colour, and on white where it can be seen through.
    ///
    /// - Throws: an `ImageCodecError` if another form is asked for, a side is longer than 65,535 pixels, or the task was
    ///   cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        guard encoding.format == .jpeg else {
            throw ImageCodecError(
                .unsupported(encoding.format),
                "is not written as \(encoding.format) by a codec of JPEG"
            )
        }
        guard max(image.size.width, image.size.height) <= Int(UInt16.max) else {
            throw ImageCodecError(.unencodable(.jpeg), "is \(image.size), and a JPEG file has sides of 65535 at most")
        }
        return try JPEGEncoder(image, encoding).encode(image.bytes.span)
    }
}

extension ImageCodecError {
    /// That a JPEG file breaks the rules, and how.
    static func damagedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.jpeg), explanation)
    }

    /// That a JPEG file ends before its image, and where.
    static func truncatedJPEG(at position: Int) -> ImageCodecError {
        ImageCodecError(.truncated(.jpeg), "ends early, at byte \(position)")
    }

    /// That a JPEG file has what is not read here.
    static func unsupportedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.unsupported(.jpeg), explanation)
    }
}
