/// A streaming decompressor for the zlib format (RFC 1950).
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

    /// Creates a decompressor, with the parameters of ``Inflater/init(count:piece:)``.
    init(count: Int, piece: Int) {
        inflater = Inflater(count: count, piece: piece)
    }

    /// The number of unread bytes.
    var available: Int { inflater.available }

    /// Whether all data was read and the checksum is correct.
    var isFinished: Bool { if case .finished = state { true } else { false } }

    /// Reads decompressed bytes, and returns their offset in the window.
    mutating func read(_ count: Int) -> Int {
        defer { inflater.start += count }
        return inflater.start
    }

    /// Decompresses a span up to an index.
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

/// The Adler-32 checksum of RFC 1950, section 8.2.
struct Adler32 {
    private static let modulus: UInt32 = 65521
    /// A block size in bytes that does not overflow the 16-bit lanes. The running total of a lane is the sum of 22 · 21 / 2
    /// bytes, each at most 255.
    private static let blockLength = 8 * 22

    private var sum: UInt32 = 1
    private var sumOfSums: UInt32 = 0

    /// The checksum of all bytes added so far.
    var value: UInt32 { sumOfSums << 16 | sum }

    /// Adds bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        var index = 0
        while bytes.count &- index >= Self.blockLength {
            addBlock(bytes, at: index)
            index &+= Self.blockLength
        }
        while index < bytes.count {
            sum = (sum &+ UInt32(bytes[index])) % Self.modulus
            sumOfSums = (sumOfSums &+ sum) % Self.modulus
            index &+= 1
        }
    }

    /// Adds a block, eight bytes at a time. Each byte has a 16-bit lane. One integer holds the lanes of the even positions, and
    /// another those of the odd ones.
    @inline(__always)
    private mutating func addBlock(_ bytes: Span<UInt8>, at start: Int) {
        let mask: UInt64 = 0x00FF_00FF_00FF_00FF
        var (even, odd) = (UInt64(0), UInt64(0))
        // The running total of the sums before each step.
        var (earlierEven, earlierOdd) = (UInt64(0), UInt64(0))
        var index = start
        while index < start &+ Self.blockLength {
            let word = bytes.word(at: index)
            earlierEven &+= even
            earlierOdd &+= odd
            even &+= word & mask
            odd &+= word &>> 8 & mask
            index &+= 8
        }
        // The byte at position n of a word counts 8 − n times, and 8 more times for each later step.
        var total: UInt32 = 0
        var weighted: UInt32 = 0
        for lane in 0..<4 {
            let shift = UInt64(16 &* lane)
            let (first, second) = (UInt32(even &>> shift & 0xFFFF), UInt32(odd &>> shift & 0xFFFF))
            let earlier = UInt32(earlierEven &>> shift & 0xFFFF) &+ UInt32(earlierOdd &>> shift & 0xFFFF)
            let weight = UInt32(8 &- 2 &* lane)
            total &+= first &+ second
            weighted &+= earlier &* 8 &+ first &* weight &+ second &* (weight &- 1)
        }
        sumOfSums = (sumOfSums &+ sum &* UInt32(Self.blockLength) &+ weighted) % Self.modulus
        sum = (sum &+ total) % Self.modulus
    }

    /// Returns the checksum of bytes.
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var checksum = Adler32()
        checksum.update(bytes)
        return checksum.value
    }
}
