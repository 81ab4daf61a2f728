import InwardImages

/// A chunk of a PNG (ISO/IEC 15948, section 5.3).
struct PNGChunk {
    let type: PNGChunkType
    /// The position of the chunk, including its length field.
    let start: Int
    /// The range of the chunk's data.
    let data: Range<Int>

    /// A description of the chunk's position for error messages.
    var place: String { "\(type) at byte \(start)" }
}

/// The type of a chunk, as a four-letter name.
struct PNGChunkType: RawRepresentable, Hashable, CustomStringConvertible {
    let rawValue: UInt32

    static let header = PNGChunkType(rawValue: 0x4948_4452)
    static let palette = PNGChunkType(rawValue: 0x504C_5445)
    static let transparency = PNGChunkType(rawValue: 0x7452_4E53)
    static let exif = PNGChunkType(rawValue: 0x6558_4966)
    static let data = PNGChunkType(rawValue: 0x4944_4154)
    static let end = PNGChunkType(rawValue: 0x4945_4E44)

    /// The four letters; the first one is in the highest byte.
    private var letters: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

    /// Whether the name consists only of letters (ISO/IEC 15948, section 5.4).
    var isName: Bool { letters.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) } }

    /// Whether a decoder must know the chunk to show the image: the first letter is upper case.
    var isCritical: Bool { rawValue & 0x2000_0000 == 0 }

    /// The name, if it is valid.
    var description: String { isName ? String(decoding: letters, as: UTF8.self) : "a chunk without a name" }
}

/// Reads the chunks of a PNG in sequence (ISO/IEC 15948, section 5.3).
struct PNGChunkReader {
    /// The signature of every PNG.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let longestData = 0x7FFF_FFFF

    let bytes: [UInt8]
    /// Whether truncated image data are read as far as they go.
    let allowsTruncation: Bool
    private var position: Int
    private var count = 0

    /// Starts after the signature.
    ///
    /// - Throws: an `ImageCodecError` if the bytes do not begin with the signature.
    init(_ bytes: [UInt8], allowsTruncation: Bool = false) throws(ImageCodecError) {
        guard bytes.starts(with: Self.signature) else {
            guard !bytes.isEmpty, Self.signature.starts(with: bytes) else {
                throw ImageCodecError(.unrecognized, "is no PNG")
            }
            throw ImageCodecError(.truncated(.png), "ends in its signature")
        }
        self.bytes = bytes
        self.allowsTruncation = allowsTruncation
        position = Self.signature.count
    }

    /// Returns the next chunk after verifying its checksum. Truncated image data are not verified if truncation is allowed.
    ///
    /// - Throws: an `ImageCodecError` if there is no valid chunk; or if the task was cancelled, because there may be very many
    ///   chunks.
    mutating func next() throws(ImageCodecError) -> PNGChunk {
        if count % 64 == 0 { try ImageCodecError.checkCancellation() }
        count += 1
        let start = position
        let held = bytes
        let bytes = held.span
        guard bytes.count - start >= 8 else {
            throw ImageCodecError(.truncated(.png), "ends at byte \(bytes.count), before it is whole")
        }
        let length = bytes.bigEndian32(at: start)
        let type = PNGChunkType(rawValue: UInt32(truncatingIfNeeded: bytes.bigEndian32(at: start + 4)))
        guard type.isName else { throw .damagedPNG("has a chunk without a name at byte \(start)") }
        guard length <= Self.longestData else { throw .damagedPNG("has too long a chunk, \(type) at byte \(start)") }
        let first = start + 8
        guard bytes.count - first - 4 >= length else {
            guard allowsTruncation, type == .data else {
                throw ImageCodecError(.truncated(.png), "ends in \(type) at byte \(start)")
            }
            position = bytes.count
            return PNGChunk(type: type, start: start, data: first..<min(bytes.count, first + length))
        }
        // The checksum includes the name.
        let stored = bytes.bigEndian32(at: first + length)
        guard Int(CRC32.checksum(of: bytes.extracting(start + 4..<first + length))) == stored else {
            throw .damagedPNG("has a wrong checksum in \(type) at byte \(start)")
        }
        position = first + length + 4
        return PNGChunk(type: type, start: start, data: first..<first + length)
    }
}
