#if Vips
import InwardImages
import InwardVips

/// The maximum memory of an image that is decoded here, in bytes.
private let maximumBytes = 1 << 22

private let codec = VipsImageCodec(threads: 1, effort: 0)

/// Decodes bytes with libvips and all options, and encodes the images.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    guard let header = try? codec.header(of: bytes), header.size.byteCount <= maximumBytes else { return 0 }
    for reduction in [1] + header.reductions.sorted() {
        for allowsTruncation in [false, true] {
            let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
            guard let image = try? codec.image(from: bytes, options) else { continue }
            precondition(image.size == header.size.divided(by: reduction))
            precondition(image.orientation == header.orientation)
            guard reduction == 1, !allowsTruncation, image.bytes.count <= 65_536 else { continue }
            for format in [ImageFormat.png, .jpeg, .tiff] {
                _ = try? codec.bytes(of: image, as: ImageEncoding(format))
            }
        }
    }
    return 0
}
#else
/// Fails, because there is nothing to fuzz without libvips.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    fatalError("Build fuzz-vips with the trait Vips.")
}
#endif
