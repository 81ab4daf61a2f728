import InwardImages
import Synchronization
import TestSupport

/// A codec that decodes sketches, and encodes an image as a label such as `image/webp q75 8×4`. If the codec counts
/// marks, the label also has the number of pixels with another color than the first.
final class LabelCodec: ImageCodec {
    private let sketches: SketchCodec
    private let labels = Mutex<[String]>([])
    /// Called before an image is encoded.
    private let onEncode: @Sendable () -> Void

    private let countsMarks: Bool

    init(
        countsMarks: Bool = false,
        onDecode: @escaping @Sendable () -> Void = {},
        onEncode: @escaping @Sendable () -> Void = {}
    ) {
        self.countsMarks = countsMarks
        sketches = SketchCodec(onDecode: onDecode)
        self.onEncode = onEncode
    }

    /// The labels of all encoded images, in order.
    var encoded: [String] { labels.withLock(\.self) }

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { try sketches.header(of: bytes) }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try sketches.image(from: bytes, options)
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        onEncode()
        try ImageCodecError.checkCancellation()
        guard encoding.format != .gif else { throw ImageCodecError(.unsupported(.gif), "cannot be written as GIF") }
        let pixels = (0..<image.size.pixelCount).map { image[$0 % image.size.width, $0 / image.size.width] }
        let others = countsMarks ? pixels.count { $0 != pixels[0] } : 0
        let label =
            "\(encoding.format.mediaType) q\(encoding.quality) \(image.size)"
            + (others > 0 ? " with \(others) others" : "")
        labels.withLock { $0.append(label) }
        return Array(label.utf8)
    }
}
