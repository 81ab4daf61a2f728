public import InwardImages

/// An image codec for JPEG (ITU-T T.81) in JFIF and Exif files.
///
/// ```swift
/// let thumbnail = try JPEGCodec().image(from: photo, ImageDecodingOptions(reduction: 8))
/// ```
///
/// It decodes sequential and progressive 8-bit images with Huffman coding, in gray, YCbCr, RGB, CMYK and YCCK. It does not
/// support arithmetic coding, nor 12-bit, lossless or hierarchical images. It encodes baseline images. Color profiles are
/// ignored, and colors are treated as sRGB.
public struct JPEGCodec: ImageCodec {
    /// Creates a codec.
    public init() {}

    /// Returns the header of a JPEG file.
    ///
    /// The image can be reduced by 2, 4 or 8 while it is decoded. Decoding needs memory for the image and a few rows of blocks.
    /// The strips of an image of more than about a megapixel need 7 to 13 MiB, depending on its sampling, or more if it is very
    /// wide. Progressive images, and images whose components are stored one after the other, need 2 more bytes for each sample
    /// of the full-size image, regardless of the reduction.
    ///
    /// - Throws: An `ImageCodecError` if the data is not a JPEG file or uses an unsupported feature, or if the task is
    ///   cancelled.
    /// - Complexity: O(n) in the number of bytes before the first scan.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        var decoder = JPEGDecoder()
        return try decoder.header(in: bytes.span)
    }

    /// Decodes a JPEG file to an opaque image.
    ///
    /// A file counts as truncated even if it lacks only the end marker. If the options allow truncation, missing blocks are
    /// gray, and a progressive image can be coarse. A file always fails if it ends before the first scan, or has less than one
    /// bit for each block.
    ///
    /// - Throws: An `ImageCodecError` if the file is damaged or truncated, or if the task is cancelled. Cancellation is checked
    ///   at every 64th segment and at each row of blocks.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        var decoder = JPEGDecoder()
        return try decoder.picture(in: bytes.span, options).image(in: bytes.span)
    }

    /// Decodes a JPEG file like ``image(from:_:)``. While this task reads an image of more than about a megapixel, child tasks
    /// make the pixels of the strips that have been read.
    ///
    /// - Throws: The errors of ``image(from:_:)``.
    public func decode(
        _ bytes: [UInt8],
        _ options: ImageDecodingOptions
    ) async throws(ImageCodecError) -> Image {
        var decoder = JPEGDecoder()
        return try await decoder.picture(in: bytes.span, options).concurrentImage(in: bytes)
    }

    /// Encodes an image as a baseline JPEG file. If all pixels are gray, only the luminance is stored. Transparent pixels are
    /// blended with white. An image of more than a megapixel has restart markers between its strips.
    ///
    /// - Throws: An `ImageCodecError` if another format is requested, if a side is longer than 65,535 pixels, or if the task is
    ///   cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        try encoder(image, encoding).encode(image.bytes.span)
    }

    /// Encodes an image like ``bytes(of:as:)``. A child task encodes half of an image of more than a megapixel.
    ///
    /// - Throws: The errors of ``bytes(of:as:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8] {
        try await encoder(image, encoding).encode(image.bytes)
    }

    private func encoder(_ image: Image, _ encoding: ImageEncoding) throws(ImageCodecError) -> JPEGEncoder {
        guard encoding.format == .jpeg else {
            throw ImageCodecError(
                .unsupported(encoding.format),
                "cannot be encoded as \(encoding.format) by JPEGCodec"
            )
        }
        guard max(image.size.width, image.size.height) <= Int(UInt16.max) else {
            throw ImageCodecError(.unencodable(.jpeg), "is \(image.size), and JPEG allows sides up to 65535")
        }
        return JPEGEncoder(image, encoding)
    }
}

extension ImageCodecError {
    /// Returns an error for a JPEG file that violates the standard.
    static func damagedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.jpeg), explanation)
    }

    /// Returns an error for a JPEG file that ends before its image does.
    static func truncatedJPEG(at position: Int) -> ImageCodecError {
        ImageCodecError(.truncated(.jpeg), "ends at byte \(position), before it is complete")
    }

    /// Returns an error for a JPEG file with an unsupported feature.
    static func unsupportedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.unsupported(.jpeg), explanation)
    }
}
