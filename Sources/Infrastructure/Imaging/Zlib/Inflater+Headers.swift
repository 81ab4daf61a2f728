extension Inflater {
    /// The tables of the codes that are the same in every block (RFC 1951, section 3.2.6), made once: a block of them may be ten
    /// bits long.
    private static let fixedTables = Result { () throws(InflateError) in
        (
            literals: try HuffmanTable(
                lengths: DeflateSymbol.fixedLengths,
                symbols: HuffmanTable.literalSymbols,
                primaryBits: HuffmanTable.literalBits
            ),
            distances: try HuffmanTable(
                lengths: DeflateSymbol.fixedDistanceLengths,
                symbols: HuffmanTable.distanceSymbols,
                primaryBits: HuffmanTable.distanceBits
            )
        )
    }

    /// Reads the next part of what stands before a block's data (RFC 1951, section 3.2.3); `false` if there are too few bits.
    mutating func readBlockHeader() throws(InflateError) -> Bool {
        switch state {
        case .block: try readBlockType()
        case .storedLength: try readStoredLength()
        case .counts: try readCounts()
        case .codeLengthLengths(let read): try readCodeLengthLengths(from: read)
        case .codeLengths: try readCodeLengths()
        case .stored, .symbols, .copy, .finished: true
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
        case 1:
            (literals, distances) = try Self.fixedTables.get()
            state = .symbols
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
        state = .stored(left: length)
        return true
    }

    private mutating func readCounts() throws(InflateError) -> Bool {
        guard buffer.count >= 14 else { return false }
        counts = (buffer.take(5) + 257, buffer.take(5) + 1, buffer.take(4) + 4)
        guard counts.literals <= 286, counts.distances <= 30 else { throw .codeLengths }
        lengths.removeAll(keepingCapacity: true)
        for _ in DeflateSymbol.codeLengthOrder { lengths.append(0) }
        state = .codeLengthLengths(read: 0)
        return true
    }

    private mutating func readCodeLengthLengths(from start: Int) throws(InflateError) -> Bool {
        for index in start..<counts.codeLengths {
            guard buffer.count >= 3 else {
                state = .codeLengthLengths(read: index)
                // As many were read as there were bits for: then there may be more.
                return index > start
            }
            lengths[DeflateSymbol.codeLengthOrder[index]] = UInt8(buffer.take(3))
        }
        codeLengths = try HuffmanTable(
            lengths: lengths,
            symbols: HuffmanTable.codeLengthSymbols,
            primaryBits: HuffmanTable.codeLengthBits
        )
        lengths.removeAll(keepingCapacity: true)
        state = .codeLengths
        return true
    }

    /// Reads the length of a code, or of several (RFC 1951, section 3.2.7), until there are all, or too few bits.
    private mutating func readCodeLengths() throws(InflateError) -> Bool {
        let total = counts.literals + counts.distances
        var isFirst = true
        while lengths.count < total {
            let entry = codeLengths.entries[Int(buffer.bits & 0x7F)]
            guard entry & HuffmanTable.Entry.special == 0 else {
                guard buffer.count >= HuffmanTable.codeLengthBits else { return !isFirst }
                throw .code
            }
            let (bits, symbol) = (HuffmanTable.Entry.bits(entry), HuffmanTable.Entry.value(entry))
            let extraBits = symbol < 16 ? 0 : [2, 3, 7][symbol - 16]
            guard buffer.count >= bits + extraBits else { return !isFirst }
            buffer.drop(bits)
            let extra = buffer.take(extraBits)
            var length = UInt8(0)
            var repeats = 1
            switch symbol {
            case 16:
                guard let last = lengths.last else { throw .codeLengths }
                (length, repeats) = (last, extra + 3)
            case 17: repeats = extra + 3
            case 18: repeats = extra + 11
            default: length = UInt8(symbol)
            }
            guard lengths.count + repeats <= total else { throw .codeLengths }
            for _ in 0..<repeats { lengths.append(length) }
            isFirst = false
        }
        guard lengths[DeflateSymbol.endOfBlock] > 0 else { throw .codeLengths }
        literals = try HuffmanTable(
            lengths: lengths[..<counts.literals],
            symbols: HuffmanTable.literalSymbols,
            primaryBits: HuffmanTable.literalBits
        )
        // Where even the shortest is too long for two, there is no pair to be looked for.
        let shortest = lengths[..<DeflateSymbol.endOfBlock].reduce(UInt8.max) { $1 == 0 ? $0 : min($0, $1) }
        if 2 * Int(shortest) <= HuffmanTable.literalBits { literals.pairLiterals() }
        distances = try HuffmanTable(
            lengths: lengths[counts.literals...],
            symbols: HuffmanTable.distanceSymbols,
            primaryBits: HuffmanTable.distanceBits
        )
        state = .symbols
        return true
    }
}
