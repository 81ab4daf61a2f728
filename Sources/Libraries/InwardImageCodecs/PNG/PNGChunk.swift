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

    /// The four letters. The first one is in the highest byte.
    private var letters: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

    /// Whether the name consists only of letters (ISO/IEC 15948, section 5.4).
    var isName: Bool { letters.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) } }

    /// Whether a decoder must know the chunk to show the image: the first letter is upper case.
    var isCritical: Bool { rawValue & 0x2000_0000 == 0 }

    /// The name, or a description if it is not valid.
    var description: String { isName ? String(decoding: letters, as: UTF8.self) : "a chunk with an invalid type" }
}

/// A reader of the chunks of a PNG (ISO/IEC 15948, section 5.3).
struct PNGChunkReader {
    /// The signature of every PNG.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let longestData = 0x7FFF_FFFF

    let bytes: [UInt8]
    /// Whether truncated image data is read as far as it goes.
    let allowsTruncation: Bool
    private var position: Int
    private var count = 0

    /// Starts after the signature.
    ///
    /// - Throws: An `ImageCodecError` if the data does not begin with the signature.
    init(_ bytes: [UInt8], allowsTruncation: Bool = false) throws(ImageCodecError) {
        guard bytes.starts(with: Self.signature) else {
            guard !bytes.isEmpty, Self.signature.starts(with: bytes) else {
                throw ImageCodecError(.unrecognized, "is not a PNG file")
            }
            throw ImageCodecError(.truncated(.png), "ends within its signature")
        }
        self.bytes = bytes
        self.allowsTruncation = allowsTruncation
        position = Self.signature.count
    }

    /// Returns the next chunk after verifying its checksum. Truncated image data is not verified if truncation is allowed.
    ///
    /// - Throws: An `ImageCodecError` if there is no valid chunk, or if the task is cancelled. Cancellation is checked
    ///   at every 64th chunk, because a file can contain millions of them.
    mutating func next() throws(ImageCodecError) -> PNGChunk {
        if count % 64 == 0 { try ImageCodecError.checkCancellation() }
        count += 1
        let start = position
        let held = bytes
        let bytes = held.span
        guard bytes.count - start >= 8 else {
            throw ImageCodecError(.truncated(.png), "ends at byte \(bytes.count), before it is complete")
        }
        let length = bytes.bigEndian32(at: start)
        let type = PNGChunkType(rawValue: UInt32(truncatingIfNeeded: bytes.bigEndian32(at: start + 4)))
        guard type.isName else { throw .damagedPNG("has a chunk with an invalid type at byte \(start)") }
        guard length <= Self.longestData else {
            throw .damagedPNG("has the chunk \(type) at byte \(start), which is too long")
        }
        let first = start + 8
        guard bytes.count - first - 4 >= length else {
            guard allowsTruncation, type == .data else {
                throw ImageCodecError(.truncated(.png), "ends within \(type) at byte \(start)")
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

/// A reader of the rows of a PNG, from the compressed data in one or several chunks (ISO/IEC 15948, section 10).
struct PNGDataReader {
    /// The number of compressed bytes between cancellation checks. It limits input rather than output, because blocks without
    /// output take time as well.
    static let maximumAtOnce = 65_536

    private var chunks: PNGChunkReader
    private var chunk: PNGChunk
    /// The position of the next compressed data.
    private(set) var position: Int
    private var zlib: ZlibInflater

    /// Starts at the first data chunk.
    init(_ preamble: PNGPreamble) {
        chunks = preamble.chunks
        chunk = preamble.firstData
        position = chunk.data.lowerBound
        zlib = ZlibInflater(
            count: preamble.header.dataCount,
            piece: preamble.header.rowCount(preamble.header.size.width) + 1
        )
    }

    /// The window that contains the decompressed rows.
    var window: [UInt8] {
        @inline(__always) _read { yield zlib.inflater.window }
    }

    /// Reads a number of bytes, and returns their offset in the window.
    mutating func read(_ count: Int) throws(ImageCodecError) -> Int {
        while zlib.available < count {
            let pause = try inflate()
            guard zlib.available < count else { break }
            switch pause {
            case .full: continue
            case .starved: try advance()
            case .finished: throw .damagedPNG("has too little data in \(chunk.place) for its size")
            }
        }
        return zlib.read(count)
    }

    /// Reads everything after the rows, up to the end of the data.
    mutating func finish() throws(ImageCodecError) {
        while !zlib.isFinished {
            switch try inflate() {
            case .full: throw .damagedPNG("has too much data in \(chunk.place) for its size")
            case .starved: try advance()
            case .finished: break
            }
        }
        // Bytes after the compressed data are ignored, as in other decoders, but their checksum is verified.
        var isData = true
        while true {
            let chunk = try chunks.next()
            switch chunk.type {
            case .data where isData: continue
            case .end:
                guard chunk.data.isEmpty else { throw .damagedPNG("has data in \(chunk.place), which must be empty") }
                return
            default: try PNGPreamble.check(chunk)
            }
            isData = false
        }
    }

    /// Decompresses the next data of a chunk.
    mutating func inflate() throws(ImageCodecError) -> Inflater.Pause {
        try ImageCodecError.checkCancellation()
        let bytes = chunks.bytes
        let end = min(chunk.data.upperBound, position + Self.maximumAtOnce)
        do {
            return try zlib.inflate(bytes.span, &position, through: end)
        } catch {
            throw .damagedPNG("has invalid data in \(chunk.place): \(error.rawValue)")
        }
    }

    /// Advances to the next data chunk at the end of the current one.
    private mutating func advance() throws(ImageCodecError) {
        guard position == chunk.data.upperBound else { return }
        let next = try chunks.next()
        guard next.type == .data else {
            throw .damagedPNG("has \(next.place) before its image data is complete")
        }
        chunk = next
        position = next.data.lowerBound
    }
}

/// The cyclic redundancy check of ISO/IEC 15948, annex D, and RFC 1952.
struct CRC32 {
    /// The effect of a byte on the register when 0 to 15 bytes follow it: sixteen consecutive tables.
    private static let table: [UInt32] = {
        var table = [UInt32](repeating: 0, count: 16 * 256)
        for byte in 0..<256 {
            var register = UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xEDB8_8320 }
            table[byte] = register
        }
        for index in 256..<table.count {
            let register = table[index - 256]
            table[index] = register >> 8 ^ table[Int(register & 0xFF)]
        }
        return table
    }()

    private var register: UInt32 = .max

    /// The checksum of all bytes added so far.
    var value: UInt32 { ~register }

    /// Adds bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        let entries = Self.table
        let table = entries.span
        var register = register
        var index = 0
        // Sixteen bytes at a time: each byte uses the table for the number of bytes after it.
        while index <= bytes.count &- 16 {
            let low = bytes.word(at: index) ^ UInt64(register)
            let high = bytes.word(at: index &+ 8)
            register = Self.folded(low, after: 15, table) ^ Self.folded(high, after: 7, table)
            index &+= 16
        }
        while index < bytes.count {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[index])]
            index &+= 1
        }
        self.register = register
    }

    /// Returns the effect of eight bytes on the register, given the number of bytes that follow the first one.
    @inline(__always)
    private static func folded(_ word: UInt64, after last: Int, _ table: Span<UInt32>) -> UInt32 {
        var register: UInt32 = 0
        for byte in 0..<8 {
            register ^= table[(last &- byte) &<< 8 | Int(UInt8(truncatingIfNeeded: word &>> UInt64(8 &* byte)))]
        }
        return register
    }

    /// Returns the checksum of bytes.
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes)
        return checksum.value
    }
}
