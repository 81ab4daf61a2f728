/// What bits stand for, by prefix codes as RFC 1951 section 3.2.2 makes them of their lengths.
///
/// The first bits of a code find an entry, and where the code is longer, that one finds another by the bits that follow.
struct HuffmanTable {
    /// What a code stands for, in the bits of a number, so that little has to be asked of it.
    ///
    /// From the lowest: six bits, how many bits the code and the number behind it take together, or both codes; two of
    /// nothing; four, how many bits the code takes alone; four that say what it is; sixteen of a value, or of two literals.
    enum Entry {
        /// The code of another literal follows whose bits were looked at, too.
        static let pair: UInt32 = 1 << 12
        static let endOfBlock: UInt32 = 1 << 12
        static let subtable: UInt32 = 1 << 13
        static let literal: UInt32 = 1 << 14
        /// Neither a literal nor a number.
        static let special: UInt32 = 1 << 15
        /// What stands for nothing: no code has it.
        static let none: UInt32 = special

        @inline(__always) static func bits(_ entry: UInt32) -> Int { Int(entry & 0x3F) }
        @inline(__always) static func codeBits(_ entry: UInt32) -> UInt64 { UInt64(entry &>> 8 & 0xF) }
        @inline(__always) static func value(_ entry: UInt32) -> Int { Int(entry &>> 16) }
    }

    /// The longest code there is.
    static let longestCode = 15

    /// How many bits find the first entry.
    let primaryBits: Int
    private(set) var entries: [UInt32]

    /// Makes a table for codes of these lengths; 0 is the length of a symbol without a code.
    ///
    /// A single code, and none at all, do not use up what bits can say, and are allowed (RFC 1951 section 3.2.7).
    ///
    /// - Throws: ``InflateError/codeLengths`` if the codes are too many for their lengths, or too few.
    init(lengths: some Collection<UInt8>, symbols: [UInt32], primaryBits: Int) throws(InflateError) {
        var counts = [Int](repeating: 0, count: Self.longestCode + 1)
        for length in lengths { counts[Int(length)] += 1 }
        let used = lengths.count - counts[0]
        counts[0] = 0
        var room = 1
        for length in 1...Self.longestCode {
            room = room << 1 - counts[length]
            guard room >= 0 else { throw .codeLengths }
        }
        guard room == 0 || used == 0 || (used == 1 && counts[1] == 1) else { throw .codeLengths }
        self.primaryBits = primaryBits
        entries = [UInt32](repeating: Entry.none, count: 1 << primaryBits)
        guard used > 0 else { return }

        // The symbols in the order of their codes.
        var places = [Int](repeating: 0, count: Self.longestCode + 2)
        for length in 1...Self.longestCode { places[length + 1] = places[length] + counts[length] }
        var sorted = [Int](repeating: 0, count: used)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            sorted[places[Int(length)]] = symbol
            places[Int(length)] += 1
        }

        var code = 0
        var subtable = (prefix: -1, start: 0, bits: 0)
        var place = 0
        for length in 1...Self.longestCode {
            var left = counts[length]
            while left > 0 {
                // Codes come with their first bit lowest.
                let reversed = Self.reversed(code, length)
                let entry = Self.entry(symbols[sorted[place]], length)
                if length <= primaryBits {
                    fill(from: reversed, to: 1 << primaryBits, by: 1 << length, with: entry)
                } else {
                    let prefix = reversed & (1 << primaryBits - 1)
                    if prefix != subtable.prefix {
                        subtable = (prefix, entries.count, Self.subtableBits(length, left, counts, primaryBits))
                        entries += [UInt32](repeating: Entry.none, count: 1 << subtable.bits)
                        entries[prefix] =
                            Entry.special | Entry.subtable | UInt32(subtable.start) << 16 | UInt32(subtable.bits)
                    }
                    fill(
                        from: subtable.start + reversed >> primaryBits,
                        to: subtable.start + 1 << subtable.bits,
                        by: 1 << (length - primaryBits),
                        with: entry
                    )
                }
                code += 1
                place += 1
                left -= 1
            }
            code <<= 1
        }
    }

    /// Makes a table that finds nothing.
    init(primaryBits: Int) {
        self.primaryBits = primaryBits
        entries = [UInt32](repeating: Entry.none, count: 1 << primaryBits)
    }

    /// Has one look find two literals, where the codes of both are short enough.
    ///
    /// That is worth its time where most of what is compressed stands for itself, as in pictures of the world.
    mutating func pairLiterals() {
        let single = entries
        for index in 0..<1 << primaryBits {
            let first = single[index]
            guard first & Entry.literal != 0 else { continue }
            let second = single[index >> Entry.bits(first)]
            let bits = Entry.bits(first) + Entry.bits(second)
            // Where the bits of the second go beyond those that were looked at, they are not known.
            guard second & Entry.literal != 0, bits <= primaryBits else { continue }
            entries[index] = (first & ~0x3F | Entry.pair | UInt32(bits)) | (second >> 16) << 24
        }
    }

    private mutating func fill(from start: Int, to end: Int, by step: Int, with entry: UInt32) {
        var index = start
        while index < end {
            entries[index] = entry
            index += step
        }
    }

    /// How many bits tell apart the codes that begin like one of this length, of which so many are left.
    private static func subtableBits(_ length: Int, _ left: Int, _ counts: [Int], _ primaryBits: Int) -> Int {
        var bits = length - primaryBits
        var room = 1 << bits - left
        while room > 0, primaryBits + bits < longestCode {
            bits += 1
            room = room << 1 - counts[primaryBits + bits]
        }
        return bits
    }

    /// The entry of a symbol whose code has a length: a code's bits are added to those behind it.
    private static func entry(_ symbol: UInt32, _ length: Int) -> UInt32 {
        symbol + UInt32(length) + UInt32(length) << 8
    }

    /// A code whose first bit is the lowest.
    static func reversed(_ code: Int, _ length: Int) -> Int {
        Int(UInt16(truncatingIfNeeded: code).bitReversed >> UInt16(16 - length))
    }
}

extension UInt16 {
    /// The number whose highest bit is the lowest of this one.
    fileprivate var bitReversed: UInt16 {
        var bits = self
        bits = bits >> 1 & 0x5555 | (bits & 0x5555) << 1
        bits = bits >> 2 & 0x3333 | (bits & 0x3333) << 2
        bits = bits >> 4 & 0x0F0F | (bits & 0x0F0F) << 4
        return bits.byteSwapped
    }
}
