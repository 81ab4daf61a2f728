/// Takes bits from entropy-coded data, the most significant first (T.81 annex F.2.2.5).
///
/// Many are fetched at a time. After the last one follow zeros, as many as are asked for: whoever reads asks afterwards whether
/// any of them was taken.
struct JPEGBitReader {
    /// The next bits, from the top. What is below the first ``count`` is nothing, or what follows anyway.
    private(set) var bits: UInt64 = 0
    private var count = 0
    /// Where the next byte is.
    private(set) var position: Int
    /// How many zeros were put after the last bit.
    private var padding = 0

    init(at position: Int) {
        self.position = position
    }

    /// Whether bits were taken that are not there.
    @inline(__always)
    var isOverdrawn: Bool { count < padding }

    /// How many bits are left that were fetched.
    var remaining: Int { max(0, count - padding) }

    /// See to it that 32 bits can be taken: as many as a code of 16 bits and what it announces need.
    @inline(__always)
    mutating func prepare(_ data: Span<UInt8>) {
        if count < 32 { fetch(data) }
    }

    /// Passes over bits that were prepared.
    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &<<= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    /// Takes 1 to 16 bits that were prepared.
    @inline(__always)
    mutating func take(_ length: Int) -> Int32 {
        let value = Int32(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: 64 &- length))
        skip(length)
        return value
    }

    @inline(__always)
    private mutating func fetch(_ data: Span<UInt8>) {
        if let word = data.bigEndianWord(at: position),
            (~word &- 0x0101_0101_0101_0101) & word & 0x8080_8080_8080_8080 == 0
        {
            // None of them is 0xFF. What does not fit whole is fetched again.
            bits |= word &>> UInt64(truncatingIfNeeded: count)
            let bytes = (63 &- count) &>> 3
            position &+= bytes
            count &+= bytes &* 8
        } else {
            // A copy, so that the others of a block can stay in registers.
            self = Self.fetchedByteByByte(self, data)
        }
    }

    /// Fetches what may have a marker, or a zero that follows 0xFF lest it be taken for one.
    @inline(never)
    private static func fetchedByteByByte(_ reader: JPEGBitReader, _ data: Span<UInt8>) -> JPEGBitReader {
        var reader = reader
        while reader.count <= 56 {
            var byte: UInt8 = 0
            if reader.position < data.count, data[reader.position] != 0xFF {
                byte = data[reader.position]
                reader.position += 1
            } else if reader.position + 1 < data.count, data[reader.position + 1] == 0 {
                byte = 0xFF
                reader.position += 2
            } else {
                reader.padding += 8
            }
            reader.bits |= UInt64(byte) << UInt64(56 - reader.count)
            reader.count += 8
        }
        return reader
    }

    /// Fetches what is there before the next marker, so far as there is room.
    mutating func settle(_ data: Span<UInt8>) {
        self = Self.fetchedByteByByte(self, data)
    }
}
