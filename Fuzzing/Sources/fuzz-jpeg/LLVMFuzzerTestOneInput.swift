import InwardImageCodecs
import InwardImages

/// The maximum memory of an image that is decoded here, in bytes.
private let maximumBytes = 1 << 20

/// Decodes bytes with all options.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    let codec = JPEGCodec()
    guard let header = try? codec.header(of: bytes), header.bytes(reducedBy: 1) <= maximumBytes else { return 0 }
    for reduction in header.reductions {
        for allowsTruncation in [false, true] {
            let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
            guard let image = try? codec.image(from: bytes, options) else { continue }
            precondition(image.size == header.size.divided(by: reduction) && image.orientation == header.orientation)
            precondition(image.isOpaque)
            guard !allowsTruncation, image.bytes.count < 65_536 else { continue }
            // Encoding the image again preserves its size.
            guard let written = try? codec.bytes(of: image, as: .jpeg()) else {
                preconditionFailure("The decoded image cannot be encoded.")
            }
            precondition((try? codec.image(from: written, ImageDecodingOptions()))?.size == image.size)
        }
    }
    return 0
}
