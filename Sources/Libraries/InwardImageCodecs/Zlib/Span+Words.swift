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

extension MutableSpan where Element == UInt8 {
    /// Writes eight bytes, the lowest first; nothing if there is no room for all of them.
    ///
    /// The last of them is the first that is written: who knows that it is there knows it of the others.
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

    /// Writes four bytes, the lowest first; nothing if there is no room for all of them.
    @inline(__always)
    mutating func store(_ quad: UInt32, at index: Int) {
        guard index >= 0, index < count &- 3 else { return }
        let end = index &+ 4
        self[end &- 1] = UInt8(truncatingIfNeeded: quad >> 24)
        self[end &- 2] = UInt8(truncatingIfNeeded: quad >> 16)
        self[end &- 3] = UInt8(truncatingIfNeeded: quad >> 8)
        self[end &- 4] = UInt8(truncatingIfNeeded: quad)
    }

    /// Moves bytes to an earlier place; both places must be there.
    mutating func moveDown(_ range: Range<Int>, to start: Int) {
        guard start < range.lowerBound else { return }
        var from = range.lowerBound
        var to = start
        // A word that is written does not reach what is still to be read, if the places are a word apart.
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
