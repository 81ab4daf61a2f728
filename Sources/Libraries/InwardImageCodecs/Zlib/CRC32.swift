/// The cyclic redundancy check of ISO/IEC 15948, annex D, and RFC 1952.
struct CRC32 {
    /// The effect of a byte on the register when 0 to 15 bytes follow it: sixteen consecutive tables.
    private static let table: [UInt32] = {
        var table = [UInt32](repeating: 0, count: 16 * 256)
        for byte in 0..<256 {
            var register = UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xEDB8_8320 }
            table[byte] = register
        }
        for index in 256..<table.count {
            let register = table[index - 256]
            table[index] = register >> 8 ^ table[Int(register & 0xFF)]
        }
        return table
    }()

    private var register: UInt32 = .max

    /// The checksum of all bytes added so far.
    var value: UInt32 { ~register }

    /// Adds bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        let entries = Self.table
        let table = entries.span
        var register = register
        var index = 0
        // Sixteen bytes at a time: each byte uses the table for the number of bytes after it.
        while index <= bytes.count &- 16 {
            let low = bytes.word(at: index) ^ UInt64(register)
            let high = bytes.word(at: index &+ 8)
            register = Self.folded(low, after: 15, table) ^ Self.folded(high, after: 7, table)
            index &+= 16
        }
        while index < bytes.count {
            register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[index])]
            index &+= 1
        }
        self.register = register
    }

    /// Returns the effect of eight bytes on the register, given the number of bytes that follow the first one.
    @inline(__always)
    private static func folded(_ word: UInt64, after last: Int, _ table: Span<UInt32>) -> UInt32 {
        var register: UInt32 = 0
        for byte in 0..<8 {
            register ^= table[(last &- byte) &<< 8 | Int(UInt8(truncatingIfNeeded: word &>> UInt64(8 &* byte)))]
        }
        return register
    }

    /// Returns the checksum of bytes.
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(bytes)
        return checksum.value
    }
}
