/// Writes bits, the first of them lowest in their byte (RFC 1951, section 3.1.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Writes the lowest bits of a number, 32 at most; those above must be zero.
    @inline(__always)
    mutating func write(_ value: UInt32, _ number: Int) {
        bits |= UInt64(value) &<< UInt64(count)
        count &+= number
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            count &-= 8
        }
    }

    /// Fills up the byte that was begun.
    mutating func align() {
        if count > 0 { write(0, 8 - count) }
    }

    /// Writes bytes; the one that was begun is filled up before.
    mutating func write(_ span: Span<UInt8>) {
        align()
        bytes.reserveCapacity(bytes.count + span.count)
        for index in 0..<span.count { bytes.append(span[index]) }
    }
}
