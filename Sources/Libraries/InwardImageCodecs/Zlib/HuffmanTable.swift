/// A lookup table for prefix codes (RFC 1951 section 3.2.2).
///
/// The first bits of a code select an entry. For a longer code, that entry refers to a second table, indexed by the following
/// bits.
struct HuffmanTable {
    /// The layout of an entry.
    ///
    /// From the lowest bit: 6 bits for the combined length of the code and its extra bits (or of both codes), 2 unused bits, 4
    /// bits for the length of the code alone, 4 flag bits, and 16 bits for a value or two literals.
    enum Entry {
        /// The entry contains a second literal, whose code also fits the lookup bits.
        static let pair: UInt32 = 1 << 12
        static let endOfBlock: UInt32 = 1 << 12
        static let subtable: UInt32 = 1 << 13
        static let literal: UInt32 = 1 << 14
        /// The entry is neither a literal nor a number.
        static let special: UInt32 = 1 << 15
        /// The entry for bits that are not a code.
        static let none: UInt32 = special

        @inline(__always) static func bits(_ entry: UInt32) -> Int { Int(entry & 0x3F) }
        @inline(__always) static func codeBits(_ entry: UInt32) -> UInt64 { UInt64(entry &>> 8 & 0xF) }
        @inline(__always) static func value(_ entry: UInt32) -> Int { Int(entry &>> 16) }
    }

    /// The maximum code length.
    static let longestCode = 15

    /// The capacity for the entries of all second tables.
    ///
    /// A second table of `b` bits covers at least `b + 1` codes. `b` is at most 4 for literals and lengths, and at most 6 for
    /// distances. So 288 codes need at most 922 entries, and 30 codes at most 275.
    private static let subtableCapacity = 1_024

    /// The number of bits that select the first entry.
    let primaryBits: Int
    /// The first table, followed by the second tables.
    private(set) var entries: [UInt32]
    /// The symbols in code order. They are kept to avoid allocations when codes are redefined.
    private var sorted: [UInt16] = []
    /// The number of codes of each length, and the next index for a symbol of each length. They are kept for the same reason.
    private var counts = [Int](repeating: 0, count: longestCode + 1)
    private var places = [Int](repeating: 0, count: longestCode + 1)

    /// Creates a table without codes.
    init(primaryBits: Int) {
        self.primaryBits = primaryBits
        entries = [UInt32](repeating: Entry.none, count: 1 << primaryBits + Self.subtableCapacity)
    }

    /// Creates a table for codes of given lengths, as ``define(lengths:symbols:)`` does.
    init(lengths: [UInt8], symbols: [UInt32], primaryBits: Int) throws(InflateError) {
        self.init(primaryBits: primaryBits)
        try define(lengths: lengths.span, symbols: symbols)
    }

    /// Replaces the codes. A length of 0 marks a symbol without a code.
    ///
    /// A single code, or none, is allowed although it leaves the code incomplete (RFC 1951 section 3.2.7).
    ///
    /// A block of a few bytes can define three tables. So this method allocates only in the first call for a number of symbols,
    /// and skips symbols without a code eight at a time.
    ///
    /// - Throws: ``InflateError/codeLengths`` if the code is oversubscribed or incomplete.
    mutating func define(lengths: Span<UInt8>, symbols: [UInt32]) throws(InflateError) {
        while sorted.count < lengths.count { sorted.append(0) }
        try Self.define(lengths: lengths, symbols: symbols.span, primaryBits, &entries, &sorted, &counts, &places)
    }

    private static func define(
        lengths: Span<UInt8>,
        symbols: Span<UInt32>,
        _ primaryBits: Int,
        _ entries: inout [UInt32],
        _ sorted: inout [UInt16],
        _ counts: inout [Int],
        _ places: inout [Int]
    ) throws(InflateError) {
        var table = entries.mutableSpan
        var sorted = sorted.mutableSpan
        var counts = counts.mutableSpan
        let used = count(lengths, &counts)
        try checkRoom(counts.span, used: used)
        guard used > 1 else {
            for index in 0..<1 << primaryBits { table[index] = Entry.none }
            guard used == 1 else { return }
            forEachCode(lengths) { symbol, _ in
                for index in stride(from: 0, to: 1 << primaryBits, by: 2) { table[index] = entry(symbols[symbol], 1) }
            }
            return
        }
        var places = places.mutableSpan
        sort(lengths, counts.span, &places, &sorted)
        fill(&table, primaryBits, counts.span, sorted.span, symbols)
    }

    /// Calls a closure for each symbol that has a code, with the code's length.
    @inline(__always)
    private static func forEachCode(_ lengths: Span<UInt8>, _ body: (_ symbol: Int, _ length: Int) -> Void) {
        var start = 0
        while start &+ 8 <= lengths.count {
            var word = lengths.word(at: start)
            while word != 0 {
                let shift = UInt64(truncatingIfNeeded: word.trailingZeroBitCount) & 0x38
                body(start &+ Int(truncatingIfNeeded: shift &>> 3), Int(truncatingIfNeeded: word &>> shift & 0xFF))
                word &= ~(0xFF &<< shift)
            }
            start &+= 8
        }
        while start < lengths.count {
            if lengths[start] > 0 { body(start, Int(lengths[start])) }
            start &+= 1
        }
    }

    /// Counts the codes of each length, and returns their total number.
    private static func count(_ lengths: Span<UInt8>, _ counts: inout MutableSpan<Int>) -> Int {
        for length in 0...longestCode { counts[length] = 0 }
        var used = 0
        forEachCode(lengths) { _, length in
            counts[length] &+= 1
            used &+= 1
        }
        return used
    }

    /// Checks that the code is neither oversubscribed nor incomplete.
    private static func checkRoom(_ counts: Span<Int>, used: Int) throws(InflateError) {
        var room = 1
        for length in 1...longestCode {
            room = room &<< 1 &- counts[length]
            guard room >= 0 else { throw .codeLengths }
        }
        guard room == 0 || used == 0 || (used == 1 && counts[1] == 1) else { throw .codeLengths }
    }

    /// Writes the symbols in code order.
    private static func sort(
        _ lengths: Span<UInt8>,
        _ counts: Span<Int>,
        _ places: inout MutableSpan<Int>,
        _ sorted: inout MutableSpan<UInt16>
    ) {
        places[1] = 0
        for length in 1..<longestCode { places[length &+ 1] = places[length] &+ counts[length] }
        forEachCode(lengths) { symbol, length in
            sorted[places[length]] = UInt16(truncatingIfNeeded: symbol)
            places[length] &+= 1
        }
    }

    /// Fills the tables for a complete code.
    ///
    /// The table for each length consists of two copies of the table for one bit less, plus the codes of that length. All
    /// entries are eventually overwritten, so the table need not be cleared.
    private static func fill(
        _ table: inout MutableSpan<UInt32>,
        _ primaryBits: Int,
        _ counts: Span<Int>,
        _ sorted: Span<UInt16>,
        _ symbols: Span<UInt32>
    ) {
        // The current code, with its first bit lowest. Appending a zero does not change its value.
        var code = 0
        var place = 0
        for length in 1...primaryBits {
            table.repeatBeginning(1 << (length - 1))
            let end = place &+ counts[length]
            while place < end {
                table[code] = entry(symbols[Int(sorted[place])], length)
                code = following(code, length)
                place &+= 1
            }
        }
        var subtable = (prefix: -1, start: 0, bits: 0)
        var end = 1 << primaryBits
        for length in primaryBits + 1..<max(primaryBits, longestCode) + 1 {
            for left in stride(from: counts[length], to: 0, by: -1) {
                let prefix = code & (1 << primaryBits - 1)
                if prefix != subtable.prefix {
                    subtable = (prefix, end, subtableBits(length, left, counts, primaryBits))
                    end += 1 << subtable.bits
                    table[prefix] =
                        Entry.special | Entry.subtable | UInt32(subtable.start) << 16 | UInt32(subtable.bits)
                }
                let entry = entry(symbols[Int(sorted[place])], length)
                let step = 1 << (length - primaryBits)
                for index in stride(from: subtable.start + code >> primaryBits, to: end, by: step) {
                    table[index] = entry
                }
                code = following(code, length)
                place += 1
            }
        }
    }

    /// Returns the next code of the same length. Both codes have their first bit lowest.
    @inline(__always)
    private static func following(_ code: Int, _ length: Int) -> Int {
        // Sets the last zero bit, and clears the bits after it.
        let zeros = code ^ (1 &<< length &- 1)
        guard zeros != 0 else { return code }
        let bit = 1 &<< (Int.bitWidth &- 1 &- zeros.leadingZeroBitCount)
        return code & (bit &- 1) | bit
    }

    /// Combines two literals in one entry where both codes are short enough.
    ///
    /// This pays off for data that consists mostly of literals, such as photographs.
    mutating func pairLiterals() {
        Self.pairLiterals(&entries, primaryBits)
    }

    private static func pairLiterals(_ entries: inout [UInt32], _ primaryBits: Int) {
        var table = entries.mutableSpan
        // From last to first: lookups refer only to lower indices, which have not been changed yet.
        for index in (0..<1 << primaryBits).reversed() {
            let first = table[index]
            guard first & Entry.literal != 0 else { continue }
            let second = table[index >> Entry.bits(first)]
            let bits = Entry.bits(first) + Entry.bits(second)
            // The second code extends beyond the lookup bits, so it is not known.
            guard second & Entry.literal != 0, bits <= primaryBits else { continue }
            table[index] = (first & ~0x3F | Entry.pair | UInt32(bits)) | (second >> 16) << 24
        }
    }

    /// The length of the shortest code.
    var shortestCode: Int { counts.firstIndex { $0 > 0 } ?? 0 }

    /// Returns the number of index bits of a second table. Its shortest codes have the length `length`, and `left` of them
    /// remain.
    private static func subtableBits(_ length: Int, _ left: Int, _ counts: Span<Int>, _ primaryBits: Int) -> Int {
        var bits = length - primaryBits
        var room = 1 << bits - left
        while room > 0, primaryBits + bits < longestCode {
            bits += 1
            room = room << 1 - counts[primaryBits + bits]
        }
        return bits
    }

    /// Returns the entry of a symbol, with the code's length added to the number of extra bits.
    private static func entry(_ symbol: UInt32, _ length: Int) -> UInt32 {
        symbol &+ UInt32(truncatingIfNeeded: length) &* 0x101
    }

    /// Reverses the bits of a code, so that its first bit is lowest.
    static func reversed(_ code: Int, _ length: Int) -> Int {
        Int(UInt16(truncatingIfNeeded: code).bitReversed >> UInt16(16 - length))
    }
}

extension UInt16 {
    /// The value with its bits in reverse order.
    fileprivate var bitReversed: UInt16 {
        var bits = self
        bits = bits >> 1 & 0x5555 | (bits & 0x5555) << 1
        bits = bits >> 2 & 0x3333 | (bits & 0x3333) << 2
        bits = bits >> 4 & 0x0F0F | (bits & 0x0F0F) << 4
        return bits.byteSwapped
    }
}

extension MutableSpan<UInt32> {
    /// Repeats the first elements directly after themselves.
    @inline(__always)
    fileprivate mutating func repeatBeginning(_ length: Int) {
        guard length > 0, length <= count / 2 else { return }
        for index in 0..<length { self[length &+ index] = self[index] }
    }
}

extension HuffmanTable {
    /// The entries of the literal and length symbols, without code lengths.
    static let literalSymbols: [UInt32] = {
        let literals = (0..<256).map { Entry.literal | UInt32($0) << 16 }
        let lengths = zip(DeflateSymbol.lengthBases, DeflateSymbol.lengthExtraBits)
            .map { UInt32($0) << 16 | UInt32($1) }
        // Symbols 286 and 287 have fixed codes but never occur.
        return literals + [Entry.special | Entry.endOfBlock] + lengths + [Entry.none, Entry.none]
    }()

    /// The entries of the distance symbols, without code lengths.
    static let distanceSymbols: [UInt32] =
        zip(DeflateSymbol.distanceBases, DeflateSymbol.distanceExtraBits).map { UInt32($0) << 16 | UInt32($1) }
        + [Entry.none, Entry.none]

    /// The entries of the code length symbols, whose values are the symbols themselves.
    static let codeLengthSymbols = (0..<19).map { UInt32($0) << 16 }

    static let literalBits = 11
    static let distanceBits = 9
    static let codeLengthBits = 7

    /// The tables of the fixed codes (RFC 1951, section 3.2.6), created once because a block with fixed codes can be as short
    /// as ten bits.
    static let fixedLiterals = fixed(DeflateSymbol.fixedLengths, literalSymbols, literalBits)
    static let fixedDistances = fixed(DeflateSymbol.fixedDistanceLengths, distanceSymbols, distanceBits)

    private static func fixed(_ lengths: [UInt8], _ symbols: [UInt32], _ primaryBits: Int) -> HuffmanTable {
        // These lengths are valid. If they were not, the empty table would reject every code.
        (try? HuffmanTable(lengths: lengths, symbols: symbols, primaryBits: primaryBits))
            ?? HuffmanTable(primaryBits: primaryBits)
    }
}
