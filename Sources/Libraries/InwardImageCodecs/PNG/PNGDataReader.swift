import InwardImages

/// Reads the rows of a PNG from its compressed data, which one or several chunks contain (ISO/IEC 15948, section 10).
struct PNGDataReader {
    /// The number of bytes to decompress between cancellation checks. Blocks without output take time too.
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
            case .starved: try goOn()
            case .finished: throw .damagedPNG("has data in \(chunk.place) that are too short for its size")
            }
        }
        return zlib.read(count)
    }

    /// Reads everything after the rows, up to the end of the data.
    mutating func finish() throws(ImageCodecError) {
        while !zlib.isFinished {
            switch try inflate() {
            case .full: throw .damagedPNG("has data in \(chunk.place) that are too long for its size")
            case .starved: try goOn()
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
                guard chunk.data.isEmpty else { throw .damagedPNG("has data in \(chunk.place)") }
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
            throw .damagedPNG("has data in \(chunk.place) that \(error.rawValue)")
        }
    }

    /// Advances to the next data chunk at the end of the current one.
    private mutating func goOn() throws(ImageCodecError) {
        guard position == chunk.data.upperBound else { return }
        let next = try chunks.next()
        guard next.type == .data else {
            throw .damagedPNG("has \(next.place), where its data go on")
        }
        chunk = next
        position = next.data.lowerBound
    }
}
