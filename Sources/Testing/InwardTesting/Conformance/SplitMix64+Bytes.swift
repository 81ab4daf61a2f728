extension SplitMix64 {
    /// Fills memory with random bytes, faster than byte by byte.
    mutating func fill(_ bytes: inout MutableSpan<UInt8>) {
        var bits: UInt64 = 0
        for index in 0..<bytes.count {
            if index % 8 == 0 { bits = next() }
            bytes[index] = UInt8(truncatingIfNeeded: bits)
            bits >>= 8
        }
    }

    /// Random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        fill(&span)
        return bytes
    }
}
