/// An incremental CRC-64 checksum, with the polynomial of ECMA-182 in reflected form (CRC-64/XZ).
///
///     var checksum = Checksum()
///     checksum.update(with: firstBytes.span)
///     checksum.update(with: moreBytes.span)
///
/// It detects accidental corruption. It does not protect against deliberate manipulation.
public struct Checksum: Hashable, Sendable {
    /// The effect of a byte on the register when 0 to 7 bytes follow it, as eight consecutive tables.
    private static let table: [UInt64] = {
        var table = [UInt64](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var register = UInt64(byte)
            for _ in 0..<8 {
                register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xC96C_5795_D787_0F42
            }
            table[byte] = register
        }
        for index in 256..<table.count {
            let register = table[index - 256]
            table[index] = register >> 8 ^ table[Int(register & 0xFF)]
        }
        return table
    }()

    /// The checksum of all bytes so far, or 0 for no bytes. You can resume from it with `init(value:)`.
    public private(set) var value: UInt64

    /// Creates a checksum that continues from the value of earlier bytes, or from no bytes if `value` is 0.
    public init(value: UInt64 = 0) {
        self.value = value
    }

    /// Creates the checksum of bytes.
    public init(of bytes: Span<UInt8>) {
        value = 0
        update(with: bytes)
    }

    /// Adds bytes.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public mutating func update(with bytes: Span<UInt8>) {
        let entries = Self.table
        let table = entries.span
        var register = ~value
        var index = 0
        // Slicing-by-8: each byte is looked up in the table for the number of bytes that follow it.
        while index <= bytes.count &- 8 {
            for byte in 0..<8 { register ^= UInt64(bytes[index &+ byte]) &<< UInt64(8 &* byte) }
            var next: UInt64 = 0
            for byte in 0..<8 {
                next ^=
                    table[(7 &- byte) &<< 8 | Int(UInt8(truncatingIfNeeded: register &>> UInt64(8 &* byte)))]
            }
            register = next
            index &+= 8
        }
        while index < bytes.count {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[index])]
            index &+= 1
        }
        value = ~register
    }
}
