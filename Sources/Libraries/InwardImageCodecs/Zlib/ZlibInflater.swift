/// Takes compressed data in their container (RFC 1950) apart, a piece after the other.
struct ZlibInflater {
    private enum State {
        case header
        case data
        case checksum
        case finished
    }

    private(set) var inflater: Inflater
    private var state = State.header
    private var checksum = Adler32()

    /// Begins; see ``Inflater/init(count:piece:)``.
    init(count: Int, piece: Int) {
        inflater = Inflater(count: count, piece: piece)
    }

    /// What was made and not read.
    var available: Int { inflater.available }

    /// Whether all data were read, and their checksum is right.
    var isFinished: Bool { if case .finished = state { true } else { false } }

    /// Reads what was made: the place in the window where it begins.
    mutating func read(_ count: Int) -> Int {
        defer { inflater.start += count }
        return inflater.start
    }

    /// Takes apart what is in a span, up to an index.
    mutating func inflate(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through end: Int
    ) throws(InflateError) -> Inflater.Pause {
        while true {
            switch state {
            case .header:
                inflater.buffer.refill(input, &position, through: end)
                guard inflater.buffer.count >= 16 else { return .starved }
                try readHeader()
                state = .data
            case .data:
                if inflater.left > 0, inflater.end == inflater.limit { inflater.makeRoom() }
                let before = inflater.end
                let pause = try inflater.inflate(input, &position, through: end)
                let window = inflater.window
                checksum.update(window.span.extracting(before..<inflater.end))
                guard case .finished = pause else { return pause }
                inflater.buffer.align()
                state = .checksum
            case .checksum:
                inflater.buffer.refill(input, &position, through: end)
                guard inflater.buffer.count >= 32 else { return .starved }
                let stored = UInt32(truncatingIfNeeded: inflater.buffer.take(32)).byteSwapped
                guard stored == checksum.value else { throw .checksum }
                state = .finished
            case .finished:
                return .finished
            }
        }
    }

    /// Reads the header (RFC 1950, section 2.2).
    private mutating func readHeader() throws(InflateError) {
        let method = inflater.buffer.take(8)
        let flags = inflater.buffer.take(8)
        guard method & 0xF == 8, method >> 4 <= 7, (method << 8 | flags) % 31 == 0 else { throw .header }
        guard flags & 0x20 == 0 else { throw .dictionary }
    }
}
