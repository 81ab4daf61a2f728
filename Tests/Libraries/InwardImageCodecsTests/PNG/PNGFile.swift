@testable import InwardImageCodecs

/// A PNG file that consists of given chunks, valid or not.
struct PNGFile {
    var chunks: [(name: String, data: [UInt8])]

    /// Creates a file with a header chunk, these chunks, and by default an end chunk.
    init(
        _ chunks: [(name: String, data: [UInt8])],
        width: Int = 3,
        height: Int = 2,
        depth: UInt8 = 8,
        kind: UInt8 = 2,
        interlace: UInt8 = 0,
        end: Bool = true
    ) {
        let header = Self.bytes(of: width) + Self.bytes(of: height) + [depth, kind, 0, 0, interlace]
        self.chunks = [("IHDR", header)] + chunks + (end ? [("IEND", [])] : [])
    }

    /// Reads the chunks of a file.
    init(parsing bytes: [UInt8]) {
        chunks = []
        var start = 8
        while start + 12 <= bytes.count {
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - start - 12 else { return }
            let name = String(decoding: bytes[start + 4..<start + 8], as: UTF8.self)
            chunks.append((name, Array(bytes[start + 8..<start + 8 + length])))
            start += 12 + length
        }
    }

    var bytes: [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunks.flatMap { Self.bytes(of: $0.name, $0.data) }
    }

    private static func bytes(of name: String, _ data: [UInt8]) -> [UInt8] {
        let named: [UInt8] = Array(name.utf8) + data
        return bytes(of: data.count) + named + bytes(of: Int(checksum(of: named)))
    }

    static func bytes(of number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// Returns a data chunk with compressed bytes.
    static func data(_ bytes: [UInt8]) throws -> (name: String, data: [UInt8]) {
        ("IDAT", try Deflater.compressed(bytes.span))
    }

    /// Returns the CRC-32, computed bit by bit.
    static func checksum(of bytes: [UInt8]) -> UInt32 {
        var register = UInt32.max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : (register >> 1) ^ 0xEDB8_8320 }
        }
        return ~register
    }
}
