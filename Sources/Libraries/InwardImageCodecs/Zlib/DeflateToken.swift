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
