import InwardImages

/// Reads the rows of a PNG out of its compressed data, which stand in one chunk or in several (ISO/IEC 15948, section 10).
struct PNGDataReader {
    /// How much is taken apart before it is looked whether the task was cancelled: blocks that make nothing take their time, too.
    static let maximumAtOnce = 65_536

    private var chunks: PNGChunkReader
    private var chunk: PNGChunk
    /// Where the data go on.
    private(set) var position: Int
    private var zlib: ZlibInflater

    /// Begins with the first chunk of data.
    init(_ preamble: PNGPreamble) {
        chunks = preamble.chunks
        chunk = preamble.firstData
        position = chunk.data.lowerBound
        zlib = ZlibInflater(
            count: preamble.header.dataCount,
            piece: preamble.header.rowCount(preamble.header.size.width) + 1
        )
    }

    /// Where the rows are that were read.
    var window: [UInt8] {
        @inline(__always) _read { yield zlib.inflater.window }
    }

    /// Reads so many bytes: where in the window they begin.
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

    /// Reads what follows the rows, up to the end.
    mutating func finish() throws(ImageCodecError) {
        while !zlib.isFinished {
            switch try inflate() {
            case .full: throw .damagedPNG("has data in \(chunk.place) that are too long for its size")
            case .starved: try goOn()
            case .finished: break
            }
        }
        // What stands behind compressed data is not looked at, as others do it; its checksum is.
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

    /// Takes the next data of a chunk apart.
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

    /// Goes on to the next chunk of data, if this one is at its end.
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
