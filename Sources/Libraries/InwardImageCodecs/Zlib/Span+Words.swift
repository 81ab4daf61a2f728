extension Span where Element == UInt8 {
    /// Returns eight bytes as a little-endian integer, or zero if not all of them exist.
    ///
    /// The range check lets the compiler remove the check of each byte and use a single load.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        guard count >= 8, index >= 0, index <= count &- 8 else { return 0 }
        let bytes = extracting(index..<index &+ 8)
        return UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
            | UInt64(bytes[4]) << 32 | UInt64(bytes[5]) << 40 | UInt64(bytes[6]) << 48 | UInt64(bytes[7]) << 56
    }

    /// Returns four bytes as a little-endian integer, or zero if not all of them exist.
    @inline(__always)
    func quad(at index: Int) -> UInt32 {
        guard count >= 4, index >= 0, index <= count &- 4 else { return 0 }
        let bytes = extracting(index..<index &+ 4)
        return UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16 | UInt32(bytes[3]) << 24
    }

    /// Returns two bytes as a big-endian integer. The bytes must exist.
    @inline(__always)
    func bigEndian16(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index &+ 1]) }

    /// Returns four bytes as a big-endian integer. The bytes must exist.
    @inline(__always)
    func bigEndian32(at index: Int) -> Int { bigEndian16(at: index) << 16 | bigEndian16(at: index &+ 2) }
}

extension MutableSpan where Element == UInt8 {
    /// Writes an integer as eight little-endian bytes, or nothing if there is not enough space.
    ///
    /// The last byte is written first, because its bounds check covers the others.
    @inline(__always)
    mutating func store(_ word: UInt64, at index: Int) {
        guard index >= 0, index < count &- 7 else { return }
        let end = index &+ 8
        self[end &- 1] = UInt8(truncatingIfNeeded: word >> 56)
        self[end &- 2] = UInt8(truncatingIfNeeded: word >> 48)
        self[end &- 3] = UInt8(truncatingIfNeeded: word >> 40)
        self[end &- 4] = UInt8(truncatingIfNeeded: word >> 32)
        self[end &- 5] = UInt8(truncatingIfNeeded: word >> 24)
        self[end &- 6] = UInt8(truncatingIfNeeded: word >> 16)
        self[end &- 7] = UInt8(truncatingIfNeeded: word >> 8)
        self[end &- 8] = UInt8(truncatingIfNeeded: word)
    }

    /// Writes an integer as four little-endian bytes, or nothing if there is not enough space.
    @inline(__always)
    mutating func store(_ quad: UInt32, at index: Int) {
        guard index >= 0, index < count &- 3 else { return }
        let end = index &+ 4
        self[end &- 1] = UInt8(truncatingIfNeeded: quad >> 24)
        self[end &- 2] = UInt8(truncatingIfNeeded: quad >> 16)
        self[end &- 3] = UInt8(truncatingIfNeeded: quad >> 8)
        self[end &- 4] = UInt8(truncatingIfNeeded: quad)
    }

    /// Moves bytes to an earlier position. Both ranges must exist.
    mutating func moveDown(_ range: Range<Int>, to start: Int) {
        guard start < range.lowerBound else { return }
        var from = range.lowerBound
        var to = start
        // If the distance is at least a word, a write does not overlap bytes that are still to be read.
        if range.lowerBound - start >= 8 {
            while from <= range.upperBound &- 8 {
                store(span.word(at: from), at: to)
                from &+= 8
                to &+= 8
            }
        }
        while from < range.upperBound {
            self[to] = self[from]
            from &+= 1
            to &+= 1
        }
    }
}
