/// Bits that were read and not yet used, the first of them lowest.
struct BitBuffer {
    var bits: UInt64 = 0
    var count = 0

    /// Reads as many bytes as there is room for, up to an index.
    @inline(__always)
    mutating func refill(_ input: Span<UInt8>, _ position: inout Int, through end: Int) {
        if position <= end &- 8 {
            guard count < 56 else { return }
            let bytes = (63 &- count) &>> 3
            bits |= input.word(at: position) &<< UInt64(count)
            count &+= bytes &<< 3
            position &+= bytes
            // What stands above the bits that count is read again.
            bits &= 1 &<< UInt64(count) &- 1
            return
        }
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
