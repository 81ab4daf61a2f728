public import InwardImages

/// Reads and writes the forms of images that need nothing but Swift: PNG and JPEG.
public struct SwiftImageCodec: ImageCodec {
    /// What the codec behind the trait Vips reads and writes beside those.
    private static let vipsFormats: Set<ImageFormat> = [.webP, .gif, .avif, .heif, .tiff]

    private let codecs: [ImageFormat: any ImageCodec]

    /// Makes a codec.
    public init() {
        codecs = [.png: PNGCodec(), .jpeg: JPEGCodec()]
    }

    /// What encoded bytes say of the image in them, without decoding it.
    ///
    /// - Throws: an `ImageCodecError` if they are neither PNG nor JPEG, or damaged at the beginning.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try codec(reading: bytes).header(of: bytes)
    }

    /// The image in encoded bytes, as it is stored: its orientation is not applied.
    ///
    /// - Throws: an `ImageCodecError` if they are neither PNG nor JPEG, damaged, or cut short; or if the task was cancelled.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try codec(reading: bytes).image(from: bytes, options)
    }

    /// The bytes of an image in a form, as it is stored.
    ///
    /// - Throws: an `ImageCodecError` if the form is neither PNG nor JPEG, or the image does not fit into it; or if the task
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

extension ImageFormat {
    /// The form of encoded bytes, by what they begin with; `nil` if that is of no form that is known here.
    ///
    /// That the bytes begin right does not say that an image follows.
    ///
    /// - Complexity: O(1): no more than the first 1,024 bytes are looked at.
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

    /// The form that a file of the ISO base media file format (ISO/IEC 14496-12, section 4.3) says it has.
    private static func brand(of bytes: [UInt8]) -> ImageFormat? {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        // The brand, a version, and the brands that it is compatible with.
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

    /// Whether a text begins with an element of SVG, or with what may stand before it in XML.
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
