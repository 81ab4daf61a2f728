public import InwardImages

/// An image codec for PNG and JPEG, written entirely in Swift.
///
/// ```swift
/// let codec = SwiftImageCodec()
/// let image = try codec.image(from: photo, ImageDecodingOptions())
/// let png = try codec.bytes(of: image, as: .png)
/// ```
///
/// It selects ``PNGCodec`` or ``JPEGCodec`` by the signature of the data. `VipsImageCodec` supports more formats.
public struct SwiftImageCodec: ImageCodec {
    /// The formats that `VipsImageCodec` adds.
    private static let vipsFormats: Set<ImageFormat> = [.webP, .gif, .avif, .heif, .tiff]

    /// Creates a codec.
    public init() {}

    /// Returns the header of an encoded image without decoding it.
    ///
    /// - Throws: An `ImageCodecError` if the data is neither PNG nor JPEG, or if the header is damaged.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try codec(reading: bytes).header(of: bytes)
    }

    /// Decodes an image without applying its orientation.
    ///
    /// - Throws: An `ImageCodecError` if the data is neither PNG nor JPEG, if it is damaged or truncated, or if the task is
    ///   cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try codec(reading: bytes).image(from: bytes, options)
    }

    /// Encodes the stored pixels of an image, together with its orientation.
    ///
    /// - Throws: An `ImageCodecError` if the format is neither PNG nor JPEG, if the image is too large for the format, or if
    ///   the task is cancelled.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        try codec(writing: encoding.format).bytes(of: image, as: encoding)
    }

    /// Decodes an image like ``image(from:_:)``. A large JPEG file uses several processor cores if they are idle.
    ///
    /// - Throws: The errors of ``image(from:_:)``.
    public func decode(
        _ bytes: [UInt8],
        _ options: ImageDecodingOptions
    ) async throws(ImageCodecError) -> Image {
        try await codec(reading: bytes).decode(bytes, options)
    }

    /// Encodes an image like ``bytes(of:as:)``. A large image uses two processor cores for JPEG if they are idle.
    ///
    /// - Throws: The errors of ``bytes(of:as:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8] {
        try await codec(writing: encoding.format).encode(image, as: encoding)
    }

    private static func codec(for format: ImageFormat) -> (any ImageCodec)? {
        switch format {
        case .png: PNGCodec()
        case .jpeg: JPEGCodec()
        default: nil
        }
    }

    private func codec(writing format: ImageFormat) throws(ImageCodecError) -> any ImageCodec {
        guard let codec = Self.codec(for: format) else {
            throw ImageCodecError(
                .unsupported(format),
                Self.vipsFormats.contains(format)
                    ? "cannot be encoded as \(format) without VipsImageCodec (package trait Vips)"
                    : "cannot be encoded as \(format), which no codec of this package supports"
            )
        }
        return codec
    }

    private func codec(reading bytes: [UInt8]) throws(ImageCodecError) -> any ImageCodec {
        guard let format = ImageFormat(signatureOf: bytes) else {
            throw ImageCodecError(
                .unrecognized,
                // The bytes are not quoted, because they may come from a page or a record that contains secrets.
                "is not in a known image format: its \(bytes.count) bytes begin with no known signature"
            )
        }
        guard let codec = Self.codec(for: format) else {
            throw ImageCodecError(
                .unsupported(format),
                Self.vipsFormats.contains(format)
                    ? "is in \(format), which cannot be decoded without VipsImageCodec (package trait Vips)"
                    : "is in \(format), which no codec of this package supports"
            )
        }
        return codec
    }
}

extension ImageFormat {
    /// Creates the format whose signature the data begins with, or returns `nil` if no known signature matches.
    ///
    /// ```swift
    /// let format = ImageFormat(signatureOf: photo)
    /// print(format?.mediaType ?? "unknown")  // image/jpeg
    /// ```
    ///
    /// A matching signature does not guarantee that a valid image follows. Some recognized formats cannot be decoded.
    ///
    /// - Complexity: O(1): at most the first 1,024 bytes are read.
    public init?(signatureOf bytes: [UInt8]) {
        let simple: [([UInt8], ImageFormat)] = [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
            ([0xFF, 0xD8, 0xFF], .jpeg),
            (Array("GIF87a".utf8), .gif),
            (Array("GIF89a".utf8), .gif),
            ([0x49, 0x49, 0x2A, 0x00], .tiff),
            ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
            ([0x49, 0x49, 0x2B, 0x00], .tiff),
            ([0x4D, 0x4D, 0x00, 0x2B], .tiff),
            (Array("8BPS".utf8), .psd),
            ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpeg2000),
            ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000),
            ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpegXL),
            ([0xFF, 0x0A], .jpegXL),
            ([0, 0, 1, 0], .ico),
            (Array("BM".utf8), .bmp),
        ]
        if let (_, format) = simple.first(where: { bytes.starts(with: $0.0) }) {
            self = format
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            self = .webP
        } else if let format = Self.brand(of: bytes) {
            self = format
        } else if Self.isSVG(bytes) {
            self = .svg
        } else {
            return nil
        }
    }

    /// Returns the format that the brands of an ISO base media file (ISO/IEC 14496-12, section 4.3) indicate.
    private static func brand(of bytes: [UInt8]) -> ImageFormat? {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        // The major brand, a version, and the compatible brands.
        let length = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        let end = min(length, bytes.count, 256)
        let brands = [8] + stride(from: 16, to: max(16, end - 3), by: 4)
        for start in brands {
            switch String(decoding: bytes[start..<start + 4], as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx": return .heif
            default: continue
            }
        }
        return bytes[8..<12].elementsEqual("mif1".utf8) || bytes[8..<12].elementsEqual("msf1".utf8) ? .heif : nil
    }

    /// Returns whether the data begins with an SVG element, or with an XML declaration, document type or comment that an SVG
    /// element follows.
    private static func isSVG(_ bytes: [UInt8]) -> Bool {
        var start = bytes.prefix(1_024)
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
        start = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard start.first == 0x3C else { return false }
        let text = String(decoding: start, as: UTF8.self)
        if text.hasPrefix("<svg") { return true }
        return ["<?xml", "<!DOCTYPE svg", "<!--"].contains { text.hasPrefix($0) }
            && (text.contains("<svg") || text.contains("<!DOCTYPE svg"))
    }
}
