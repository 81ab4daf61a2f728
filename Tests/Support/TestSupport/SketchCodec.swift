package import InwardImages
import Synchronization

/// A codec for images of one color. Its format is the letter `S`, width and height in four hexadecimal digits each, the
/// number of the orientation, and the gray level in two digits.
package final class SketchCodec: ImageCodec {
    private let options = Mutex<[ImageDecodingOptions]>([])
    private let workingBytes: Int
    /// Called before a header is read.
    private let onHeader: @Sendable () -> Void
    /// Called before an image is decoded.
    private let onDecode: @Sendable () -> Void

    package init(
        workingBytes: Int = 0,
        onDecode: @escaping @Sendable () -> Void = {},
        onHeader: @escaping @Sendable () -> Void = {}
    ) {
        self.workingBytes = workingBytes
        self.onHeader = onHeader
        self.onDecode = onDecode
    }

    /// The reduction of each decoded image.
    package var decoded: [Int] { options.withLock { $0.map(\.reduction) } }
    /// For each decoded image, whether truncated data was allowed.
    package var allowedTruncations: [Bool] { options.withLock { $0.map(\.allowsTruncation) } }

    package static func bytes(_ width: Int, _ height: Int, orientation: Orientation = .up, gray: Int = 9) -> [UInt8] {
        func digits(_ number: Int, _ count: Int) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: count - digits.count) + digits
        }
        return [UInt8]("S\(digits(width, 4))\(digits(height, 4))\(orientation.rawValue)\(digits(gray, 2))".utf8)
    }

    package func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        onHeader()
        try ImageCodecError.checkCancellation()
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.first == "S", text.count == 12,
            let width = Int(text.dropFirst().prefix(4), radix: 16),
            let height = Int(text.dropFirst(5).prefix(4), radix: 16),
            let size = ImageSize(width: width, height: height),
            let orientation = Int(text.dropFirst(9).prefix(1)).flatMap(Orientation.init)
        else { throw ImageCodecError(.unrecognized, "is not a sketch") }
        return ImageHeader(
            format: ImageFormat(name: "Sketch", mediaType: "image/x-sketch"),
            size: size,
            orientation: orientation,
            reductions: [2, 4, 8],
            workingBytes: workingBytes
        )
    }

    package func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        let header = try header(of: bytes)
        onDecode()
        try ImageCodecError.checkCancellation()
        self.options.withLock { $0.append(options) }
        let gray = UInt8(String(decoding: bytes.suffix(2), as: UTF8.self), radix: 16) ?? 0
        var image = Image(size: header.size.divided(by: options.reduction), color: Color(gray: gray))
        image.orientation = header.orientation
        return image
    }

    package func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        Self.bytes(image.size.width, image.size.height, orientation: image.orientation, gray: Int(image[0, 0].red))
    }
}
