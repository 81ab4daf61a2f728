/// A writer of bits, starting at the lowest bit of each byte (RFC 1951, section 3.1.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Writes the lowest bits of a number, at most 32. All higher bits must be zero.
    @inline(__always)
    mutating func write(_ value: UInt32, _ number: Int) {
        bits |= UInt64(value) &<< UInt64(count)
        count &+= number
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            count &-= 8
        }
    }

    /// Writes literals and matches, and the end of their block.
    ///
    /// - Parameters:
    ///   - tokens: The literals and matches.
    ///   - codes: The codes.
    ///   - bitCount: The number of bits of all codes.
    mutating func write(_ tokens: Span<DeflateToken>, _ codes: DeflateCodes, bitCount: Int) {
        let start = bytes.count
        // Complete words are written, the last of which ends up to seven bytes after the block.
        bytes += [UInt8](repeating: 0, count: (count + bitCount) / 8 + 8)
        let end = Self.write(tokens, codes.literals.span, codes.distances.span, to: &bytes, at: start, &bits, &count)
        bytes.removeLast(bytes.count - end)
    }

    /// Writes codes, and returns the position after them.
    private static func write(
        _ tokens: Span<DeflateToken>,
        _ literals: Span<UInt32>,
        _ distances: Span<UInt32>,
        to bytes: inout [UInt8],
        at start: Int,
        _ bits: inout UInt64,
        _ count: inout Int
    ) -> Int {
        var output = bytes.mutableSpan
        // Two codes with their extra bits have at most 48 bits, and at most 7 are left from before.
        var word = bits
        var used = UInt64(truncatingIfNeeded: count)
        var place = start
        for index in tokens.indices {
            let token = tokens[index]
            let entry = literals[token.isLiteral ? token.literal : DeflateCodes.lengths &+ token.length]
            word |= UInt64(entry & 0xFF_FFFF) &<< used
            used &+= UInt64(entry &>> 24)
            if !token.isLiteral {
                let symbol = token.distanceSymbol
                let entry = distances[symbol]
                word |= UInt64(entry & 0xFFFF) &<< used
                used &+= UInt64(entry &>> 24)
                let extraBits = UInt64(entry &>> 16 & 0xFF)
                word |= (UInt64(token.distance &- 1) & (1 &<< extraBits &- 1)) &<< used
                used &+= extraBits
            }
            output.store(word, at: place)
            place &+= Int(used &>> 3)
            word &>>= used & ~7
            used &= 7
        }
        let end = literals[DeflateSymbol.endOfBlock]
        word |= UInt64(end & 0xFF_FFFF) &<< used
        used &+= UInt64(end &>> 24)
        output.store(word, at: place)
        bits = word &>> (used & ~7)
        count = Int(used & 7)
        return place &+ Int(used &>> 3)
    }

    /// Pads the current byte with zeros.
    mutating func align() {
        if count > 0 { write(0, 8 - count) }
    }

    /// Writes bytes after padding the current byte.
    mutating func write(_ span: Span<UInt8>) {
        align()
        bytes.reserveCapacity(bytes.count + span.count)
        for index in 0..<span.count { bytes.append(span[index]) }
    }
}

/// The codes of a block in a form for writing.
struct DeflateCodes {
    /// The index of a match of length 0.
    static let lengths = DeflateSymbol.endOfBlock + 1
    /// The codes of the literals, of the end of the block, and of each length with its extra bits. The number of bits is in the
    /// upper 8 bits.
    fileprivate let literals: [UInt32]
    /// The codes of the distances. The number of extra bits is in bits 16 to 23, and the number of bits of the code above that.
    fileprivate let distances: [UInt32]

    init(_ literals: HuffmanCode, _ distances: HuffmanCode) {
        var entries = (0...DeflateSymbol.endOfBlock).map { literals.codes[$0] | UInt32(literals.lengths[$0]) << 24 }
        for (length, code) in DeflateToken.lengthCodes.enumerated() {
            let symbol = DeflateSymbol.firstLength + Int(code)
            let bits = UInt32(literals.lengths[symbol])
            let extra = UInt32(max(0, length - DeflateSymbol.lengthBases[Int(code)]))
            let extraBits = UInt32(DeflateSymbol.lengthExtraBits[Int(code)])
            entries.append(literals.codes[symbol] | extra << bits | (bits + extraBits) << 24)
        }
        self.literals = entries
        self.distances = DeflateSymbol.distanceExtraBits.indices.map { symbol in
            let extraBits = UInt32(DeflateSymbol.distanceExtraBits[symbol])
            return distances.codes[symbol] | extraBits << 16 | UInt32(distances.lengths[symbol]) << 24
        }
    }
}
