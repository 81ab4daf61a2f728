import Foundation
import InwardImageCodecs
import InwardImages

#if Vips
import InwardVips
#endif

/// An image operation, with the name that its peers use.
enum ImageTask: String, CaseIterable {
    case decodePNG = "decode-png"
    case decodeJPEG = "decode-jpeg"
    case decodeProgressiveJPEG = "decode-jpeg-progressive"
    case encodePNG = "encode-png"
    case encodePNGGraphic = "encode-png-graphic"
    case encodeJPEG = "encode-jpeg"
    case thumbnail
    #if Vips
    case thumbnailByVips = "thumbnail-vips"
    #endif
    case watermark

    /// The name of the input file.
    var file: String {
        switch self {
        case .decodePNG: "600x600.png"
        case .decodeJPEG: "6-megapixels.jpg"
        case .decodeProgressiveJPEG: "6-megapixels-progressive.jpg"
        case .encodePNG, .encodeJPEG: "6-megapixels.jpg"
        case .encodePNGGraphic: "graphic.png"
        case .thumbnail: "2725x2225.jpg"
        #if Vips
        case .thumbnailByVips: "2725x2225.jpg"
        #endif
        case .watermark: "720x588.png"
        }
    }

    /// Returns the operation on the bytes of the file. Its result is a number that depends on the image.
    func work(on bytes: [UInt8]) throws -> () throws -> Int {
        let codec = SwiftImageCodec()
        switch self {
        case .decodePNG, .decodeJPEG, .decodeProgressiveJPEG:
            return { Int(try codec.image(from: bytes, ImageDecodingOptions()).bytes[0]) }
        case .encodePNG, .encodePNGGraphic:
            return try encoding(of: bytes, as: .png, by: codec)
        case .encodeJPEG:
            return try encoding(of: bytes, as: .jpeg(quality: 80), by: codec)
        case .thumbnail:
            return thumbnail(of: bytes, by: codec)
        #if Vips
        case .thumbnailByVips:
            return thumbnail(of: bytes, by: VipsImageCodec())
        #endif
        case .watermark:
            let image = try codec.image(from: bytes, ImageDecodingOptions())
            let mark = Image(
                size: ImageSize(clamping: 200, 80),
                color: Color(red: 200, green: 30, blue: 30, alpha: 128)
            )
            let watermark = Watermark(.image(mark))
            return { Int(try watermark.filtered(image).bytes[0]) }
        }
    }

    /// Encodes an image that was decoded before.
    private func encoding(
        of bytes: [UInt8],
        as encoding: ImageEncoding,
        by codec: some ImageCodec
    ) throws -> () throws -> Int {
        let image = try codec.image(from: bytes, ImageDecodingOptions())
        return { try codec.bytes(of: image, as: encoding).count }
    }

    /// Decodes an image with the largest possible reduction, scales it and encodes it.
    private func thumbnail(of bytes: [UInt8], by codec: some ImageCodec) -> () throws -> Int {
        let resize = Resize(width: 720, height: 588, mode: .exact)
        return {
            let header = try codec.header(of: bytes)
            let least = resize.leastSize(for: header.size) ?? header.size
            let reduction = header.reductions.last { header.size.divided(by: $0).width >= least.width } ?? 1
            let image = try codec.image(from: bytes, ImageDecodingOptions(reduction: reduction))
            return try codec.bytes(of: try resize.filtered(image), as: .jpeg(quality: 80)).count
        }
    }
}
