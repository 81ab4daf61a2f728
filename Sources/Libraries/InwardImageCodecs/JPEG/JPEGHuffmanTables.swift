import InwardImages

/// The Huffman tables of a file (T.81 annexes B.2.4.2 and F.2.2.3), in a form for decoding.
///
/// All tables share one array, so that a decoder holds nothing else. An entry describes a code: bits 0 to 7 are the number of
/// bits to skip; bits 8 to 11 the number of bits to read after them; bits 12 to 15 the upper half of the symbol, the number of
/// zero coefficients before the next one; bits 16 to 31 the value. If code and value fit into the lookup bits, no further bits
/// are read. An entry of 0 is an invalid code or a longer one.
struct JPEGHuffmanTables {
    private static let lookupBits = 10
    private static let limits = 1 << lookupBits
    private static let offsets = limits + 17
    private static let symbols = offsets + 17
    private static let stride = symbols + 256

    /// The size of the tables in bytes.
    static let byteCount = 8 * stride * MemoryLayout<UInt32>.stride

    /// The entries of all tables.
    private(set) var entries = [UInt32](repeating: 0, count: 8 * stride)
    private var isDefined = [Bool](repeating: false, count: 8)

    /// Returns the offset of the DC or AC table with a number from 0 to 3; `nil` if it is not defined.
    func start(ofAC isAC: Bool, _ number: Int) -> Int? {
        let index = (isAC ? 4 : 0) + number
        return isDefined[index] ? index * Self.stride : nil
    }

    /// Returns the entry for the next bits.
    @inline(__always)
    static func entry(for bits: UInt64, in entries: Span<UInt32>, at start: Int) -> UInt32 {
        let entry = entries[start &+ Int(truncatingIfNeeded: bits &>> UInt64(64 - lookupBits))]
        return entry != 0 ? entry : longEntry(for: bits, in: entries, at: start)
    }

    @inline(never)
    private static func longEntry(for bits: UInt64, in entries: Span<UInt32>, at start: Int) -> UInt32 {
        let code = UInt32(truncatingIfNeeded: bits >> 48)
        for length in lookupBits + 1...16 where code < entries[start + limits + length] {
            let index = entries[start + offsets + length] &+ code >> UInt32(16 - length)
            let symbol = entries[start + symbols + Int(index & 0xFF)]
            return UInt32(length) | symbol << 8
        }
        return 0
    }

    /// Defines a table.
    ///
    /// - Parameters:
    ///   - isAC: Whether the table is for AC coefficients.
    ///   - number: The table number, from 0 to 3.
    ///   - counts: The number of codes of each length from 1 to 16 bits.
    ///   - values: The symbols in ascending order of their codes.
    ///   - position: The table's position in the file.
    /// - Throws: an error if the number of codes is impossible, or if a symbol is invalid for 8-bit samples.
    mutating func define(
        ac isAC: Bool,
        _ number: Int,
        counts: [UInt8],
        values: [UInt8],
        at position: Int
    ) throws(ImageCodecError) {
        let index = (isAC ? 4 : 0) + number
        let start = index * Self.stride
        for entry in start..<start + Self.stride { entries[entry] = 0 }
        var code: UInt32 = 0
        var next = 0
        for length in 1...16 {
            code <<= 1
            entries[start + Self.offsets + length] = UInt32(next) &- code
            for _ in 0..<Int(counts[length - 1]) {
                guard next < values.count, code < 1 << UInt32(length) else {
                    throw .damagedJPEG("has a Huffman table with too many codes, at byte \(position)")
                }
                let symbol = values[next]
                guard isAC || symbol < 16 else {
                    throw .damagedJPEG(
                        "has a Huffman table with a DC coefficient of \(symbol) bits, at byte \(position)"
                    )
                }
                entries[start + Self.symbols + next] = UInt32(symbol)
                if length <= Self.lookupBits { fill(start, code, length, symbol) }
                code += 1
                next += 1
            }
            entries[start + Self.limits + length] = code << UInt32(16 - length)
        }
        isDefined[index] = true
    }

    /// Writes the entries for all bits that begin with a code.
    private mutating func fill(_ start: Int, _ code: UInt32, _ length: Int, _ symbol: UInt8) {
        let size = Int(symbol & 15)
        let free = Self.lookupBits - length
        let first = start + Int(code) << free
        let run = UInt32(symbol >> 4) << 12
        for rest in 0..<1 << free {
            if size == 0 || size > free {
                entries[first + rest] = UInt32(length) | UInt32(size) << 8 | run
            } else {
                let value = Self.extended(Int32(rest >> (free - size)), size)
                entries[first + rest] = UInt32(length + size) | run | UInt32(truncatingIfNeeded: value) << 16
            }
        }
    }

    /// Sign-extends the bits that follow a code (T.81 figure F.12): a leading 0 marks a negative number.
    @inline(__always)
    static func extended(_ bits: Int32, _ size: Int) -> Int32 {
        let half = 1 as Int32 &<< Int32(truncatingIfNeeded: size &- 1)
        return bits < half ? bits &- half &- half &+ 1 : bits
    }
}
