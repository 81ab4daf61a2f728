import InwardImageCodecs
import InwardImages
import Synchronization

/// A codec that records whether it decodes on the main queue.
final class QueueRecordingCodec: ImageCodec {
    let wasOnMainQueue = Mutex<[Bool]>([])

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { try SwiftImageCodec().header(of: bytes) }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        wasOnMainQueue.withLock { $0.append(MainQueue.isCurrent) }
        return try SwiftImageCodec().image(from: bytes, options)
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        try SwiftImageCodec().bytes(of: image, as: encoding)
    }
}
