import InwardImages

/// Reads the chunks of a PNG one after the other (ISO/IEC 15948, section 5.3).
struct PNGChunkReader {
    /// What every PNG begins with.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let longestData = 0x7FFF_FFFF

    let bytes: [UInt8]
    /// Whether picture data that are cut short are read as far as they go.
    let allowsTruncation: Bool
    private var position: Int
    private var count = 0

    /// Begins behind the signature.
    ///
    /// - Throws: an `ImageCodecError` if the bytes begin with something else.
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

    /// The next chunk, whose checksum is right, but for picture data that are cut short where that is allowed.
    ///
    /// - Throws: an `ImageCodecError` if there is none; or if the task was cancelled, for there may be very many.
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
        // The checksum is of the name, too.
        let stored = bytes.bigEndian32(at: first + length)
        guard Int(CRC32.checksum(of: bytes.extracting(start + 4..<first + length))) == stored else {
            throw .damagedPNG("has a wrong checksum in \(type) at byte \(start)")
        }
        position = first + length + 4
        return PNGChunk(type: type, start: start, data: first..<first + length)
    }
}
