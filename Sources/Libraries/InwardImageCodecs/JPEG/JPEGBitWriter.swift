/// Puts bits together to entropy-coded data, the most significant first (T.81 annex F.1.2.3).
struct JPEGBitWriter {
    /// The file so far.
    var bytes: [UInt8]
    private var bits: UInt64 = 0
    private var free = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Adds 0 to 27 bits, which are all that is set in the number.
    @inline(__always)
    mutating func put(_ value: UInt32, _ length: Int) {
        if free < 27 { flush() }
        free &-= length
        bits |= UInt64(value) &<< UInt64(truncatingIfNeeded: free)
    }

    /// Writes the whole bytes there are; after 0xFF a zero, lest it be taken for a marker.
    @inline(never)
    private mutating func flush() {
        while free <= 56 {
            let byte = UInt8(truncatingIfNeeded: bits >> 56)
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
            bits <<= 8
            free += 8
        }
    }

    /// Writes what there is; the last byte ends with ones.
    mutating func finish() {
        flush()
        guard free < 64 else { return }
        put(1 << UInt32(free - 56) - 1, free - 56)
        flush()
    }
}
