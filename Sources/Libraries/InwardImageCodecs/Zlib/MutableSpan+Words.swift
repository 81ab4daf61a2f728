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
