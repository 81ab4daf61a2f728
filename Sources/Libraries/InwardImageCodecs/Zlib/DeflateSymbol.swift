/// The lengths and distances of RFC 1951, section 3.2.5.
enum DeflateSymbol {
    static let endOfBlock = 256
    /// The symbol of the first length.
    static let firstLength = 257
    /// The least length of each symbol from 257 on.
    static let lengthBases = bases(of: lengthExtraBits, from: 3).dropLast() + [258]
    /// How many bits follow the symbol of a length.
    static let lengthExtraBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    /// The least distance of each symbol.
    static let distanceBases = bases(of: distanceExtraBits, from: 1)
    /// How many bits follow the symbol of a distance.
    static let distanceExtraBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    /// The order that the lengths of the codes for code lengths come in (section 3.2.7).
    static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// The lengths of the codes that need no table (section 3.2.6).
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

/// A byte, or a repetition of what came before, in one number.
struct DeflateToken {
    private let rawValue: UInt32

    /// A byte that stands for itself.
    @inline(__always)
    init(literal: UInt8) {
        rawValue = UInt32(literal)
    }

    /// A repetition of 3 to 258 bytes from 1 to 32,768 bytes before.
    @inline(__always)
    init(length: Int, distance: Int) {
        rawValue = UInt32(length) << 16 | UInt32(distance)
    }

    var isLiteral: Bool { rawValue < 1 << 16 }
    var literal: Int { Int(rawValue & 0xFF) }
    var length: Int { Int(rawValue >> 16) }
    var distance: Int { Int(rawValue & 0xFFFF) }

    /// The symbol of the length.
    var lengthSymbol: Int { DeflateSymbol.firstLength + Int(Self.lengthCodes[length]) }

    /// The symbol of the distance: two of them for each power of two (RFC 1951, section 3.2.5).
    var distanceSymbol: Int {
        let offset = distance - 1
        guard offset >= 4 else { return offset }
        let power = Int.bitWidth - 1 - offset.leadingZeroBitCount
        return 2 * power + offset >> (power - 1) & 1
    }

    /// The code of each length, without the literals before it.
    private static let lengthCodes: [UInt8] = (0...258).map { length in
        UInt8(max(0, (DeflateSymbol.lengthBases.lastIndex { $0 <= length }) ?? 0))
    }
}
