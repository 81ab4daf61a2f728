// Lanes are read one by one, for a span has no other way; behind one look at the bounds it becomes one load.

extension Span<UInt8> {
    /// Eight bytes, the first as the most significant one; `nil` if there are not as many.
    @inline(__always)
    func bigEndianWord(at index: Int) -> UInt64? {
        guard index >= 0, index <= count &- 8 else { return nil }
        let high =
            UInt64(self[index]) << 56 | UInt64(self[index &+ 1]) << 48
            | UInt64(self[index &+ 2]) << 40 | UInt64(self[index &+ 3]) << 32
        let low =
            UInt64(self[index &+ 4]) << 24 | UInt64(self[index &+ 5]) << 16
            | UInt64(self[index &+ 6]) << 8 | UInt64(self[index &+ 7])
        return high | low
    }

    /// Eight bytes; there have to be as many.
    @inline(__always)
    func eightBytes(at index: Int) -> SIMD8<UInt8> {
        precondition(index >= 0 && index <= count &- 8)
        return SIMD8(
            self[index],
            self[index &+ 1],
            self[index &+ 2],
            self[index &+ 3],
            self[index &+ 4],
            self[index &+ 5],
            self[index &+ 6],
            self[index &+ 7]
        )
    }

    /// Eight pixels of four bytes each; there have to be as many.
    @inline(__always)
    func eightPixels(at index: Int) -> SIMD32<UInt8> {
        SIMD32(
            lowHalf: SIMD16(lowHalf: eightBytes(at: index), highHalf: eightBytes(at: index &+ 8)),
            highHalf: SIMD16(lowHalf: eightBytes(at: index &+ 16), highHalf: eightBytes(at: index &+ 24))
        )
    }
}
