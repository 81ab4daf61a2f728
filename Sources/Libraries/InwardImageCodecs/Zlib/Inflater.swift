/// Takes compressed data (RFC 1951) apart, a piece after the other, as they come and as there is room for what is in them.
///
/// What is made stands in a window that its owner reads, and of which it keeps as much as what follows may repeat. It never
/// makes more than it was told at the beginning.
struct Inflater {
    /// Why it does not go on.
    enum Pause {
        /// All that was given is used.
        case starved
        /// There is no room for what comes next.
        case full
        /// The data are at their end.
        case finished
    }

    /// What comes next.
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

    /// How far back data repeat what came before.
    static let longestDistance = 32_768
    /// How much is made before what is still needed has to be moved.
    private static let maximumAtOnce = 131_072
    /// What the window has beyond its end, for copies that go by words.
    static let slack = 16

    /// What was made and is still needed; its owner reads it from ``start`` to ``end``.
    var window: [UInt8]
    /// What of the window its owner has not read.
    var start = 0
    /// The end of what was made.
    var end = 0
    /// How many bytes there may be beside those that were made.
    var left: Int

    var state = State.block
    var isLastBlock = false
    var buffer = BitBuffer()
    var counts = (literals: 0, distances: 0, codeLengths: 0)
    /// The lengths of codes that were read, of which ``lengthCount`` count.
    var lengths = [UInt8](repeating: 0, count: lengthCapacity)
    var lengthCount = 0
    var codeLengths = HuffmanTable(primaryBits: HuffmanTable.codeLengthBits)
    var literals = HuffmanTable(primaryBits: HuffmanTable.literalBits)
    var distances = HuffmanTable(primaryBits: HuffmanTable.distanceBits)
    /// The tables of the codes that are the same in every block.
    let fixed = (literals: HuffmanTable.fixedLiterals.entries, distances: HuffmanTable.fixedDistances.entries)
    /// Whether the block has those codes, and not those of ``literals`` and ``distances``.
    var usesFixedCodes = false
    /// Whether it is worth looking for pairs in ``literals``, if the block turns out to be long.
    var mayPairLiterals = false

    /// Begins.
    ///
    /// - Parameters:
    ///   - count: How many bytes the data make.
    ///   - piece: How many of them their owner reads at once.
    init(count: Int, piece: Int) {
        left = count
        window = [UInt8](repeating: 0, count: Self.windowCount(count: count, piece: piece) + Self.slack)
    }

    /// How large the window has to be: enough for what is repeated, and for what is read at once; or for everything.
    static func windowCount(count: Int, piece: Int) -> Int {
        let (sum, isTooMany) = piece.addingReportingOverflow(longestDistance + maximumAtOnce)
        return isTooMany ? count : min(count, sum)
    }

    /// How many bytes were made and not read.
    var available: Int { end &- start }

    /// The end of what may be made now.
    var limit: Int { min(window.count &- Self.slack, end &+ min(left, window.count)) }

    /// Moves what is still needed to the beginning of the window.
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

    /// Takes apart what is in a span, up to an index.
    mutating func inflate(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through inputEnd: Int
    ) throws(InflateError) -> Pause {
        let before = end
        defer { left -= end - before }
        let limit = limit
        // Held once for all blocks of a piece, which may be very many.
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

    /// Copies what a stored block holds; says why if that is not all of it.
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

    /// Repeats what came before; there must be room for it.
    private mutating func copy(_ count: Int, from distance: Int) {
        for _ in 0..<count {
            window[end] = window[end &- distance]
            end &+= 1
        }
    }
}

/// Why compressed data cannot be taken apart, as the end of a sentence that begins with them.
enum InflateError: String, Error {
    case header = "have a header that is not zlib's"
    case dictionary = "need a dictionary"
    case blockType = "have a block of an unknown type"
    case storedLength = "have a stored block whose length is wrong"
    case codeLengths = "have a block whose codes are wrong"
    case code = "have a code that stands for nothing"
    case distance = "repeat what comes before their beginning"
    case length = "are longer than the image"
    case checksum = "have a wrong checksum"
}

/// Bits that were read and not yet used, the first of them lowest.
struct BitBuffer {
    var bits: UInt64 = 0
    var count = 0

    /// Reads as many bytes as there is room for, up to an index.
    @inline(__always)
    mutating func refill(_ input: Span<UInt8>, _ position: inout Int, through end: Int) {
        if position <= end &- 8 {
            guard count < 56 else { return }
            let bytes = (63 &- count) &>> 3
            bits |= input.word(at: position) &<< UInt64(count)
            count &+= bytes &<< 3
            position &+= bytes
            // What stands above the bits that count is read again.
            bits &= 1 &<< UInt64(count) &- 1
            return
        }
        while count < 56, position < end {
            bits |= UInt64(input[position]) &<< UInt64(count)
            count &+= 8
            position &+= 1
        }
    }

    /// Uses bits; there must be as many.
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

    /// Uses what is left of a byte.
    mutating func align() { drop(count & 7) }
}
