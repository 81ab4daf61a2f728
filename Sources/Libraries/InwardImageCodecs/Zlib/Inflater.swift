/// A streaming decompressor for Deflate (RFC 1951).
///
/// The output goes to a window that the owner reads. The window keeps the bytes that later data may repeat. The total output
/// never exceeds the size given at initialization.
struct Inflater {
    /// The reason why the decompressor paused.
    enum Pause {
        /// All input is used, and more is needed.
        case starved
        /// There is no space for the next output.
        case full
        /// The data is complete.
        case finished
    }

    /// The element that comes next in the input.
    enum State {
        case block
        case storedLength
        case stored(left: Int)
        case counts
        case codeLengthLengths
        case codeLengths
        case symbols
        case copy(length: Int, distance: Int)
        case finished
    }

    /// The maximum distance of a match.
    static let longestDistance = 32_768
    /// The number of bytes to produce before the window's content is moved to its start.
    private static let maximumAtOnce = 131_072
    /// Additional space at the end of the window, for copies of whole words.
    static let slack = 16

    /// The output that is still needed. The owner reads it from ``start`` to ``end``.
    var window: [UInt8]
    /// The start of the unread output.
    var start = 0
    /// The end of the output.
    var end = 0
    /// The maximum number of bytes still to be produced.
    var left: Int

    var state = State.block
    var isLastBlock = false
    var buffer = BitBuffer()
    var counts = (literals: 0, distances: 0, codeLengths: 0)
    /// The code lengths read so far. Only the first ``lengthCount`` are valid.
    var lengths = [UInt8](repeating: 0, count: lengthCapacity)
    var lengthCount = 0
    var codeLengths = HuffmanTable(primaryBits: HuffmanTable.codeLengthBits)
    var literals = HuffmanTable(primaryBits: HuffmanTable.literalBits)
    var distances = HuffmanTable(primaryBits: HuffmanTable.distanceBits)
    /// The tables of the fixed codes.
    let fixed = (literals: HuffmanTable.fixedLiterals.entries, distances: HuffmanTable.fixedDistances.entries)
    /// Whether the block uses the fixed codes instead of ``literals`` and ``distances``.
    var usesFixedCodes = false
    /// Whether pairing ``literals`` may pay off in a long block.
    var mayPairLiterals = false

    /// Creates a decompressor.
    ///
    /// - Parameters:
    ///   - count: The size of the decompressed data in bytes.
    ///   - piece: The number of bytes that the owner reads at once.
    init(count: Int, piece: Int) {
        left = count
        window = [UInt8](repeating: 0, count: Self.windowCount(count: count, piece: piece) + Self.slack)
    }

    /// Returns the size of the window: large enough for the longest distance and for one read, or for all data.
    static func windowCount(count: Int, piece: Int) -> Int {
        let (sum, isTooMany) = piece.addingReportingOverflow(longestDistance + maximumAtOnce)
        return isTooMany ? count : min(count, sum)
    }

    /// The number of unread bytes.
    var available: Int { end &- start }

    /// The current limit of the output.
    var limit: Int { min(window.count &- Self.slack, end &+ min(left, window.count)) }

    /// Moves the bytes that are still needed to the start of the window.
    mutating func makeRoom() {
        let kept = min(start, max(0, end - Self.longestDistance))
        guard kept > 0 else { return }
        Self.moveDown(kept..<end, of: &window)
        start -= kept
        end -= kept
    }

    private static func moveDown(_ range: Range<Int>, of window: inout [UInt8]) {
        var bytes = window.mutableSpan
        bytes.moveDown(range, to: 0)
    }

    /// Decompresses a span up to an index.
    mutating func inflate(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int
    ) throws(InflateError) -> Pause {
        let before = end
        defer { left -= end - before }
        let limit = limit
        // Retain the fixed tables once per call instead of once per block, because blocks can be tiny.
        let (literals, distances) = fixed
        while true {
            switch state {
            case .symbols:
                try inflateRapidly(input, &position, through: inputEnd, to: limit, literals, distances)
                if case .symbols = state,
                    let pause = try inflateCarefully(input, &position, through: inputEnd, to: limit)
                {
                    return pause
                }
            case .copy(let length, let distance):
                let count = min(length, limit - end)
                copy(count, from: distance)
                guard count == length else {
                    state = .copy(length: length - count, distance: distance)
                    return .full
                }
                state = .symbols
            case .stored(let left):
                if let pause = store(left, of: input, &position, through: inputEnd, to: limit) { return pause }
            case .finished:
                return .finished
            default:
                guard try readBlockHeader(input, &position, through: inputEnd) else { return .starved }
            }
        }
    }

    /// Copies a stored block, and returns why the decompressor pauses if the block is not complete.
    private mutating func store(
        _ length: Int,
        of input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int,
        to limit: Int
    ) -> Pause? {
        var length = length
        defer { state = length == 0 ? (isLastBlock ? .finished : .block) : .stored(left: length) }
        while length > 0, buffer.count >= 8 {
            guard end < limit else { return .full }
            window[end] = UInt8(truncatingIfNeeded: buffer.take(8))
            end += 1
            length -= 1
        }
        let count = min(length, limit - end, inputEnd - position)
        for index in 0..<max(0, count) { window[end &+ index] = input[position &+ index] }
        end += count
        position += count
        length -= count
        guard length > 0 else { return nil }
        return end < limit ? .starved : .full
    }

    /// Repeats earlier output. There must be space for it.
    private mutating func copy(_ count: Int, from distance: Int) {
        for _ in 0..<count {
            window[end] = window[end &- distance]
            end &+= 1
        }
    }
}

/// The reason why compressed data is invalid, as a clause for an error message.
enum InflateError: String, Error {
    case header = "the zlib header is invalid"
    case dictionary = "a preset dictionary is required"
    case blockType = "a block has an unknown type"
    case storedLength = "a stored block has the wrong length"
    case codeLengths = "a block has invalid code lengths"
    case code = "a code is invalid"
    case distance = "a match begins before the data"
    case length = "there is more data than the image needs"
    case checksum = "the checksum is wrong"
}

/// Bits that were read but not used. The first bit is the lowest.
struct BitBuffer {
    var bits: UInt64 = 0
    var count = 0

    /// Reads as many bytes as fit, up to an index.
    @inline(__always)
    mutating func refill(_ input: Span<UInt8>, _ position: inout Int, through end: Int) {
        if position <= end &- 8 {
            guard count < 56 else { return }
            let bytes = (63 &- count) &>> 3
            bits |= input.word(at: position) &<< UInt64(count)
            count &+= bytes &<< 3
            position &+= bytes
            // Bits above the count are read again.
            bits &= 1 &<< UInt64(count) &- 1
            return
        }
        while count < 56, position < end {
            bits |= UInt64(input[position]) &<< UInt64(count)
            count &+= 8
            position &+= 1
        }
    }

    /// Removes and returns bits, which must be available.
    @inline(__always)
    mutating func take(_ number: Int) -> Int {
        let taken = bits & (1 &<< UInt64(number) &- 1)
        drop(number)
        return Int(truncatingIfNeeded: taken)
    }

    @inline(__always)
    mutating func drop(_ number: Int) {
        bits &>>= UInt64(number)
        count &-= number
    }

    /// Discards the rest of the current byte.
    mutating func align() { drop(count & 7) }
}
