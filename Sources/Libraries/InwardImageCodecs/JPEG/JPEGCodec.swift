public import InwardImages

/// An image codec for JPEG (ITU-T T.81) in JFIF and Exif files.
///
/// The codec reads sequential and progressive 8-bit images with Huffman coding, in grey, YCbCr, RGB, CMYK and YCCK. It does not
/// read arithmetic coding, 12-bit, lossless or hierarchical images. It writes baseline images. Colour profiles are ignored, and
/// colours are treated as sRGB.
public struct JPEGCodec: ImageCodec {
    /// Creates a codec.
    public init() {}

    /// Returns the header of a JPEG file.
    ///
    /// The image can be reduced by 2, 4 or 8 while it is decoded. Decoding needs memory for the image and a few rows of blocks.
    /// Progressive images, and images whose components are stored one after the other, need 2 bytes more for each sample, for all
    /// coefficients. Reduction does not lower that amount.
    ///
    /// - Throws: an `ImageCodecError` if the bytes are not a JPEG file or use an unsupported feature; or if the task was
    ///   cancelled.
    /// - Complexity: O(n) in the number of bytes before the first scan.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        var decoder = JPEGDecoder()
        return try decoder.header(in: bytes.span)
    }

    /// Decodes a JPEG file to an opaque image.
    ///
    /// If the options allow truncation, a truncated file, even one that lacks only the end marker, yields the blocks that were
    /// read and grey for the others. A file that ends before the first block is always an error.
    ///
    /// - Throws: an `ImageCodecError` that states which rule the file violates or that it is truncated; or if the task was
    ///   cancelled, which is checked at each segment and each row of blocks.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        var decoder = JPEGDecoder()
        return try decoder.image(in: bytes.span, options)
    }

    /// Encodes an image as a baseline JPEG file. Images without colour are written in grey, and transparent pixels are blended
    /// with white.
    ///
    /// - Throws: an `ImageCodecError` if another format is requested, a side is longer than 65,535 pixels, or the task was
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
    /// Returns an error for a JPEG file that violates the standard.
    static func damagedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.jpeg), explanation)
    }

    /// Returns an error for a JPEG file that ends before its image does.
    static func truncatedJPEG(at position: Int) -> ImageCodecError {
        ImageCodecError(.truncated(.jpeg), "ends early, at byte \(position)")
    }

    /// Returns an error for a JPEG file with an unsupported feature.
    static func unsupportedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.unsupported(.jpeg), explanation)
    }
}
