extension Span where Element == UInt8 {
    /// The eight bytes at an index, the first of them lowest; zero if they are not all there.
    ///
    /// The comparisons before let the compiler drop those of each byte, and read all eight at once.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        guard count >= 8, index >= 0, index <= count &- 8 else { return 0 }
        let bytes = extracting(index..<index &+ 8)
        return UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
            | UInt64(bytes[4]) << 32 | UInt64(bytes[5]) << 40 | UInt64(bytes[6]) << 48 | UInt64(bytes[7]) << 56
    }

    /// The four bytes at an index, the first of them lowest; zero if they are not all there.
    @inline(__always)
    func quad(at index: Int) -> UInt32 {
        guard count >= 4, index >= 0, index <= count &- 4 else { return 0 }
        let bytes = extracting(index..<index &+ 4)
        return UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 24
    }

    /// The number in the two bytes at an index, the higher first; the index must be one.
    @inline(__always)
    func bigEndian16(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index &+ 1]) }

    /// The number in the four bytes at an index, the highest first; the index must be one.
    @inline(__always)
    func bigEndian32(at index: Int) -> Int { bigEndian16(at: index) << 16 | bigEndian16(at: index &+ 2) }
}
