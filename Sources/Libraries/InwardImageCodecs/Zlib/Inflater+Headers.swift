extension Inflater {
    /// The maximum number of code lengths in a block: 286 literals and lengths and 30 distances, plus padding for reads of
    /// whole words.
    static let lengthCapacity = 320

    /// Reads the start of a block (RFC 1951, section 3.2.3), and returns `false` if there are too few bits.
    mutating func readBlockHeader(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through end: Int
    ) throws(InflateError) -> Bool {
        while true {
            buffer.refill(input, &position, through: end)
            let isRead =
                switch state {
                case .block: try readBlockType()
                case .storedLength: try readStoredLength()
                case .counts: try readCounts()
                case .codeLengthLengths: try readCodeLengthLengths()
                case .codeLengths: try readCodeLengths(input, &position, through: end)
                case .stored, .symbols, .copy, .finished: true
                }
            guard isRead else { return false }
            switch state {
            case .stored, .symbols, .copy, .finished: return true
            default: continue
            }
        }
    }

    private mutating func readBlockType() throws(InflateError) -> Bool {
        guard !isLastBlock else {
            state = .finished
            return true
        }
        guard buffer.count >= 3 else { return false }
        isLastBlock = buffer.take(1) == 1
        switch buffer.take(2) {
        case 0:
            buffer.align()
            state = .storedLength
            // Usually, the buffer already contains the length.
            if buffer.count >= 32 { return try readStoredLength() }
        case 1:
            usesFixedCodes = true
            // The end-of-block code is seven zeros. If it comes first, the block is empty.
            if buffer.count >= 7, buffer.bits & 0x7F == 0 { buffer.drop(7) } else { state = .symbols }
        case 2:
            state = .counts
        default:
            throw .blockType
        }
        return true
    }

    private mutating func readStoredLength() throws(InflateError) -> Bool {
        guard buffer.count >= 32 else { return false }
        let length = buffer.take(16)
        guard buffer.take(16) == ~length & 0xFFFF else { throw .storedLength }
        state = length == 0 ? .block : .stored(left: length)
        return true
    }

    private mutating func readCounts() throws(InflateError) -> Bool {
        guard buffer.count >= 14 else { return false }
        counts = (buffer.take(5) + 257, buffer.take(5) + 1, buffer.take(4) + 4)
        guard counts.literals <= 286, counts.distances <= 30 else { throw .codeLengths }
        for index in 0..<DeflateSymbol.codeLengthOrder.count { lengths[index] = 0 }
        lengthCount = 0
        state = .codeLengthLengths
        return true
    }

    private mutating func readCodeLengthLengths() throws(InflateError) -> Bool {
        let order = DeflateSymbol.codeLengthOrder
        while lengthCount < counts.codeLengths {
            // All available bits were used, and there may be more input.
            guard buffer.count >= 3 else { return false }
            lengths[order[lengthCount]] = UInt8(truncatingIfNeeded: buffer.take(3))
            lengthCount += 1
        }
        try withLengths { (inflater, lengths) throws(InflateError) in
            try inflater.codeLengths.define(
                lengths: lengths.extracting(..<order.count),
                symbols: HuffmanTable.codeLengthSymbols
            )
        }
        lengthCount = 0
        state = .codeLengths
        return true
    }

    /// Reads the code lengths (RFC 1951, section 3.2.7) as far as bits are available.
    private mutating func readCodeLengths(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through end: Int
    ) throws(InflateError) -> Bool {
        let isRead = try Self.readCodeLengths(
            input,
            &position,
            through: end,
            codeLengths.entries,
            &buffer,
            &lengths,
            &lengthCount,
            counts.literals + counts.distances
        )
        guard isRead else { return false }
        try defineCodes()
        state = .symbols
        return true
    }

    /// Reads code lengths up to a given number, and returns `false` if there are too few bits.
    private static func readCodeLengths(
        _ input: Span<UInt8>,
        _ position: inout Int,
        through end: Int,
        _ entries: [UInt32],
        _ buffer: inout BitBuffer,
        _ lengths: inout [UInt8],
        _ lengthCount: inout Int,
        _ total: Int
    ) throws(InflateError) -> Bool {
        let entries = entries.span
        var lengths = lengths.mutableSpan
        while lengthCount < total {
            // A code and its extra bits take at most 14 bits.
            if buffer.count < 14 { buffer.refill(input, &position, through: end) }
            let entry = entries[Int(truncatingIfNeeded: buffer.bits & 0x7F)]
            guard entry & HuffmanTable.Entry.special == 0 else {
                guard buffer.count >= HuffmanTable.codeLengthBits else { return false }
                throw .code
            }
            let (bits, symbol) = (HuffmanTable.Entry.bits(entry), HuffmanTable.Entry.value(entry))
            let extraBits = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7
            guard buffer.count >= bits + extraBits else { return false }
            buffer.drop(bits)
            guard symbol >= 16 else {
                lengths[lengthCount] = UInt8(truncatingIfNeeded: symbol)
                lengthCount += 1
                continue
            }
            let repeats = buffer.take(extraBits) + (symbol == 18 ? 11 : 3)
            guard symbol > 16 || lengthCount > 0, lengthCount + repeats <= total else { throw .codeLengths }
            let length = symbol == 16 ? lengths[lengthCount - 1] : 0
            for index in lengthCount..<lengthCount + repeats { lengths[index] = length }
            lengthCount += repeats
        }
        return true
    }

    private mutating func defineCodes() throws(InflateError) {
        guard lengths[DeflateSymbol.endOfBlock] > 0 else { throw .codeLengths }
        try withLengths { (inflater, lengths) throws(InflateError) in
            let counts = inflater.counts
            try inflater.literals.define(
                lengths: lengths.extracting(..<counts.literals),
                symbols: HuffmanTable.literalSymbols
            )
            try inflater.distances.define(
                lengths: lengths.extracting(counts.literals..<counts.literals + counts.distances),
                symbols: HuffmanTable.distanceSymbols
            )
        }
        usesFixedCodes = false
        // If two of the shortest codes exceed the lookup bits, no pair fits.
        mayPairLiterals = 2 * literals.shortestCode <= HuffmanTable.literalBits
    }

    /// Passes the code lengths to a closure that changes the tables.
    private mutating func withLengths(
        _ body: (inout Inflater, Span<UInt8>) throws(InflateError) -> Void
    ) throws(InflateError) {
        var lengths: [UInt8] = []
        swap(&lengths, &self.lengths)
        defer { swap(&lengths, &self.lengths) }
        try body(&self, lengths.span)
    }
}
