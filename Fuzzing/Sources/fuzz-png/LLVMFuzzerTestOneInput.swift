import InwardImageCodecs
import InwardImages

/// The maximum memory of an image that is decoded here, in bytes.
private let maximumBytes = 1 << 20

/// Decodes bytes with all options, both unchanged and with corrected checksums.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    decode(bytes)
    decode(repaired(bytes))
    return 0
}

private func decode(_ bytes: [UInt8]) {
    let codec = PNGCodec()
    guard let header = try? codec.header(of: bytes), header.bytes(reducedBy: 1) <= maximumBytes else { return }
    for allowsTruncation in [false, true] {
        guard let image = try? codec.image(from: bytes, ImageDecodingOptions(allowsTruncation: allowsTruncation))
        else { continue }
        precondition(image.size == header.size && image.orientation == header.orientation)
        precondition(image.bytes.count <= header.bytes(reducedBy: 1))
        guard !allowsTruncation, image.bytes.count < 65_536 else { continue }
        // Encoding the image again preserves it.
        guard let written = try? codec.bytes(of: image, as: .png) else {
            preconditionFailure("The decoded image cannot be encoded.")
        }
        precondition((try? codec.image(from: written, ImageDecodingOptions())) == image)
    }
}

/// Returns the bytes with the checksum of each chunk corrected, because the fuzzer does not find checksums.
private func repaired(_ bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    var start = 8
    while start + 12 <= bytes.count {
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        let end = start + 8 + length
        guard end + 4 <= bytes.count else { break }
        var register = UInt32.max
        for byte in bytes[start + 4..<end] {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : (register >> 1) ^ 0xEDB8_8320 }
        }
        for place in 0..<4 { result[end + place] = UInt8(truncatingIfNeeded: ~register >> UInt32(24 - 8 * place)) }
        start = end + 4
    }
    return result
}
