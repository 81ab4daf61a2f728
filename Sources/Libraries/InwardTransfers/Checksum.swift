/// The cyclic redundancy check of 64 bits by the polynomial of ECMA-182, bits in reverse, as XZ has it, of bytes that come in parts.
///
/// It finds what chance does to bytes, and is no proof against whoever means to deceive.
public struct Checksum: Hashable, Sendable {
    /// What a byte does to the register when 0 to 7 bytes follow it: eight tables in a row.
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

    /// The checksum of all bytes so far; 0 for none. More can be added to one that is made of it.
    public private(set) var value: UInt64

    /// Makes a checksum of bytes that had this one so far; of none, if it is 0.
    public init(value: UInt64 = 0) {
        self.value = value
    }

    /// Makes the checksum of bytes.
    public init(of bytes: Span<UInt8>) {
        value = 0
        update(with: bytes)
    }

    /// Adds the bytes that follow.
    ///
    /// - Complexity: O(n) in the number of bytes.
    public mutating func update(with bytes: Span<UInt8>) {
        let entries = Self.table
        let table = entries.span
        var register = ~value
        var index = 0
        // Eight bytes at a time: each is looked up in the table for as many as follow it.
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
