/// The cyclic redundancy check of 64 bits by the polynomial of ECMA-182, bits in reverse, as XZ has it.
///
/// It finds what chance does to bytes, and is no proof against whoever means to deceive.
package enum CRC64 {
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

    /// The checksum of bytes.
    package static func checksum(of bytes: Span<UInt8>) -> UInt64 {
        let entries = table
        let table = entries.span
        var register = UInt64.max
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
        return ~register
    }
}
