/// Bits that were read and not yet used, the first of them lowest.
struct BitBuffer {
    var bits: UInt64 = 0
    var count = 0

    /// Reads as many bytes as there is room for, up to an index.
    @inline(__always)
    mutating func refill(_ input: Span<UInt8>, _ position: inout Int, through end: Int) {
        while count < 56, position < end {
            bits |= UInt64(input[position]) &<< UInt64(count)
            count &+= 8
            position &+= 1
        }
    }

    /// Uses bits; there must be as many.
    @inline(__always)
    mutating func take(_ number: Int) -> Int {
        let taken = bits & (1 &<< UInt64(number) &- 1)
        drop(number)
        return Int(truncatingIfNeeded: taken)
    }

    @inline(__always)
    mutating func drop(_ number: Int) {
        bits &>>= UInt64(number)
        count &-= number
    }

    /// Uses what is left of a byte.
    mutating func align() { drop(count & 7) }
}
