/// The length and distance symbols of RFC 1951, section 3.2.5.
enum DeflateSymbol {
    static let endOfBlock = 256
    /// The symbol of the shortest length.
    static let firstLength = 257
    /// The minimum length of each symbol from 257 on.
    static let lengthBases = bases(of: lengthExtraBits, from: 3).dropLast() + [258]
    /// The number of extra bits of each length symbol.
    static let lengthExtraBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    /// The minimum distance of each symbol.
    static let distanceBases = bases(of: distanceExtraBits, from: 1)
    /// The number of extra bits of each distance symbol.
    static let distanceExtraBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    /// The order of the code length codes (section 3.2.7).
    static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// The lengths of the fixed codes (section 3.2.6).
    static let fixedLengths =
        [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
        + [UInt8](repeating: 8, count: 8)
    static let fixedDistanceLengths = [UInt8](repeating: 5, count: 32)

    private static func bases(of extraBits: [Int], from start: Int) -> [Int] {
        var next = start
        return extraBits.map { bits in
            defer { next += 1 << bits }
            return next
        }
    }
}

/// A literal byte or a match, as an integer.
struct DeflateToken {
    private let rawValue: UInt32

    /// Creates a literal.
    @inline(__always)
    init(literal: UInt8) {
        rawValue = UInt32(literal)
    }

    /// Creates a match of 3 to 258 bytes at a distance of 1 to 32,768 bytes.
    @inline(__always)
    init(length: Int, distance: Int) {
        rawValue = UInt32(length) << 16 | UInt32(distance)
    }

    var isLiteral: Bool { rawValue < 1 << 16 }
    var literal: Int { Int(rawValue & 0xFF) }
    var length: Int { Int(rawValue >> 16) }
    var distance: Int { Int(rawValue & 0xFFFF) }

    /// The symbol of the distance. Each power of two has two symbols (RFC 1951, section 3.2.5).
    @inline(__always)
    var distanceSymbol: Int {
        let offset = distance &- 1
        guard offset >= 4 else { return offset }
        let power = Int.bitWidth &- 1 &- offset.leadingZeroBitCount
        return 2 &* power &+ offset &>> (power &- 1) & 1
    }

    /// The symbol of each length, relative to the first length symbol.
    static let lengthCodes: [UInt8] = (0...258).map { length in
        UInt8(max(0, (DeflateSymbol.lengthBases.lastIndex { $0 <= length }) ?? 0))
    }
}
