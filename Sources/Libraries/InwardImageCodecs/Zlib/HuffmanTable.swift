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

    /// Room for the entries of all second tables.
    ///
    /// A second table of `b` bits is for `b + 1` codes or more, and `b` is 4 for literals and lengths, 6 for distances at the
    /// most: 288 codes need 922 entries at the most, and 30 need 275.
    private static let subtableCapacity = 1_024

    /// How many bits find the first entry.
    let primaryBits: Int
    /// The first table, and then the second tables of codes that are longer.
    private(set) var entries: [UInt32]
    /// The symbols in the order of their codes; kept so that defining codes again allocates nothing.
    private var sorted: [UInt16] = []
    /// How many codes have each length, and then where the next symbol with a code of each length belongs; kept for the same
    /// reason.
    private var counts = [Int](repeating: 0, count: longestCode + 1)
    private var places = [Int](repeating: 0, count: longestCode + 1)

    /// Makes a table that finds nothing.
    init(primaryBits: Int) {
        self.primaryBits = primaryBits
        entries = [UInt32](repeating: Entry.none, count: 1 << primaryBits + Self.subtableCapacity)
    }

    /// Makes a table for codes of these lengths; see ``define(lengths:symbols:)``.
    init(lengths: [UInt8], symbols: [UInt32], primaryBits: Int) throws(InflateError) {
        self.init(primaryBits: primaryBits)
        try define(lengths: lengths.span, symbols: symbols)
    }

    /// Replaces the table by that for codes of these lengths; 0 is the length of a symbol without a code.
    ///
    /// A single code, and none at all, do not use up what bits can say, and are allowed (RFC 1951 section 3.2.7).
    ///
    /// A block of a few bytes may define three tables, so this allocates nothing once it was called for as many symbols, and the
    /// symbols without a code, which are most of them then, are passed over eight at a time.
    ///
    /// - Throws: ``InflateError/codeLengths`` if the codes are too many for their lengths, or too few.
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

    /// Calls something for each symbol that has a code, with the length of that.
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

    /// Counts the codes of each length; how many there are together.
    private static func count(_ lengths: Span<UInt8>, _ counts: inout MutableSpan<Int>) -> Int {
        for length in 0...longestCode { counts[length] = 0 }
        var used = 0
        forEachCode(lengths) { _, length in
            counts[length] &+= 1
            used &+= 1
        }
        return used
    }

    /// Checks that the codes are neither too many for their lengths, nor too few.
    private static func checkRoom(_ counts: Span<Int>, used: Int) throws(InflateError) {
        var room = 1
        for length in 1...longestCode {
            room = room &<< 1 &- counts[length]
            guard room >= 0 else { throw .codeLengths }
        }
        guard room == 0 || used == 0 || (used == 1 && counts[1] == 1) else { throw .codeLengths }
    }

    /// Writes the symbols in the order of their codes.
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

    /// Writes the tables for codes that use up what bits can say.
    ///
    /// A table for codes of a length is that for one bit less twice, in which the codes of that length are then written. So what
    /// stood there before need not be cleared: in the end each entry is written.
    private static func fill(
        _ table: inout MutableSpan<UInt32>,
        _ primaryBits: Int,
        _ counts: Span<Int>,
        _ sorted: Span<UInt16>,
        _ symbols: Span<UInt32>
    ) {
        // A code with its first bit lowest, as it comes. It is the same number if a zero follows it.
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

    /// The code that follows another of the same length, both with their first bit lowest.
    @inline(__always)
    private static func following(_ code: Int, _ length: Int) -> Int {
        // The last of the bits that are zero becomes one, and those after it zero.
        let zeros = code ^ (1 &<< length &- 1)
        guard zeros != 0 else { return code }
        let bit = 1 &<< (Int.bitWidth &- 1 &- zeros.leadingZeroBitCount)
        return code & (bit &- 1) | bit
    }

    /// Has one look find two literals, where the codes of both are short enough.
    ///
    /// That is worth its time where most of what is compressed stands for itself, as in images of the world.
    mutating func pairLiterals() {
        Self.pairLiterals(&entries, primaryBits)
    }

    private static func pairLiterals(_ entries: inout [UInt32], _ primaryBits: Int) {
        var table = entries.mutableSpan
        // From the last to the first: what is looked up stands before what is changed, and is not changed yet.
        for index in (0..<1 << primaryBits).reversed() {
            let first = table[index]
            guard first & Entry.literal != 0 else { continue }
            let second = table[index >> Entry.bits(first)]
            let bits = Entry.bits(first) + Entry.bits(second)
            // Where the bits of the second go beyond those that were looked at, they are not known.
            guard second & Entry.literal != 0, bits <= primaryBits else { continue }
            table[index] = (first & ~0x3F | Entry.pair | UInt32(bits)) | (second >> 16) << 24
        }
    }

    /// The length of the shortest code.
    var shortestCode: Int { counts.firstIndex { $0 > 0 } ?? 0 }

    /// How many bits tell apart the codes that begin like one of this length, of which so many are left.
    private static func subtableBits(_ length: Int, _ left: Int, _ counts: Span<Int>, _ primaryBits: Int) -> Int {
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
        symbol &+ UInt32(truncatingIfNeeded: length) &* 0x101
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

extension MutableSpan<UInt32> {
    /// Writes the first so many elements behind themselves once more.
    @inline(__always)
    fileprivate mutating func repeatBeginning(_ length: Int) {
        guard length > 0, length <= count / 2 else { return }
        for index in 0..<length { self[length &+ index] = self[index] }
    }
}

extension HuffmanTable {
    /// What the symbols for literals and lengths stand for: entries without the length of a code.
    static let literalSymbols: [UInt32] = {
        let literals = (0..<256).map { Entry.literal | UInt32($0) << 16 }
        let lengths = zip(DeflateSymbol.lengthBases, DeflateSymbol.lengthExtraBits)
            .map { UInt32($0) << 16 | UInt32($1) }
        // 286 and 287 have codes among the fixed ones, and are never used.
        return literals + [Entry.special | Entry.endOfBlock] + lengths + [Entry.none, Entry.none]
    }()

    /// What the symbols for distances stand for.
    static let distanceSymbols: [UInt32] =
        zip(DeflateSymbol.distanceBases, DeflateSymbol.distanceExtraBits).map { UInt32($0) << 16 | UInt32($1) }
        + [Entry.none, Entry.none]

    /// What the symbols for the lengths of codes stand for: themselves.
    static let codeLengthSymbols = (0..<19).map { UInt32($0) << 16 }

    static let literalBits = 11
    static let distanceBits = 9
    static let codeLengthBits = 7

    /// The tables of the codes that are the same in every block (RFC 1951, section 3.2.6), made once: a block of them may be ten
    /// bits long.
    static let fixedLiterals = fixed(DeflateSymbol.fixedLengths, literalSymbols, literalBits)
    static let fixedDistances = fixed(DeflateSymbol.fixedDistanceLengths, distanceSymbols, distanceBits)

    private static func fixed(_ lengths: [UInt8], _ symbols: [UInt32], _ primaryBits: Int) -> HuffmanTable {
        // These lengths are neither too many nor too few; if they were, the table would find nothing, and each code be an error.
        (try? HuffmanTable(lengths: lengths, symbols: symbols, primaryBits: primaryBits))
            ?? HuffmanTable(primaryBits: primaryBits)
    }
}
