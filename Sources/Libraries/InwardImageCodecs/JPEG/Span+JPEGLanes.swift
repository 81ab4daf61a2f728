// Lanes are read one by one, because a span offers no other way. After a single bounds check, the compiler turns this into one
// load.

extension Span<UInt8> {
    /// Returns eight bytes as a big-endian integer; `nil` if there are fewer.
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

    /// Returns eight bytes, which must exist.
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

    /// Returns eight pixels of four bytes each, which must exist.
    @inline(__always)
    func eightPixels(at index: Int) -> SIMD32<UInt8> {
        SIMD32(
            lowHalf: SIMD16(lowHalf: eightBytes(at: index), highHalf: eightBytes(at: index &+ 8)),
            highHalf: SIMD16(lowHalf: eightBytes(at: index &+ 16), highHalf: eightBytes(at: index &+ 24))
        )
    }
}

// Lanes are accessed one by one, because a span offers no other way. After a single bounds check, the compiler turns this into
// one access.

extension MutableSpan<UInt8> {
    /// Returns eight samples, which must exist.
    @inline(__always)
    func eightSamples(at index: Int) -> SIMD8<UInt8> {
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

    /// Returns eight samples as 16-bit integers. The samples must exist.
    @inline(__always)
    func eightLevels(at index: Int) -> SIMD8<Int16> {
        eightSamples(at: index).levels
    }

    /// Writes eight samples. There must be space for them.
    @inline(__always)
    mutating func store(_ samples: SIMD8<UInt8>, at index: Int) {
        precondition(index >= 0 && index <= count &- 8)
        self[index] = samples[0]
        self[index &+ 1] = samples[1]
        self[index &+ 2] = samples[2]
        self[index &+ 3] = samples[3]
        self[index &+ 4] = samples[4]
        self[index &+ 5] = samples[5]
        self[index &+ 6] = samples[6]
        self[index &+ 7] = samples[7]
    }

    /// Writes eight samples, clamped to 0 through 255.
    @inline(__always)
    mutating func store(clamping levels: SIMD8<Int16>, at index: Int) {
        store(levels.clampedToBytes.bytes, at: index)
    }

    /// Writes four samples, clamped to 0 through 255.
    @inline(__always)
    mutating func store(clamping levels: SIMD4<Int16>, at index: Int) {
        precondition(index >= 0 && index <= count &- 4)
        let samples = SIMD8(lowHalf: levels, highHalf: levels).clampedToBytes.bytes
        self[index] = samples[0]
        self[index &+ 1] = samples[1]
        self[index &+ 2] = samples[2]
        self[index &+ 3] = samples[3]
    }

    /// Writes two vectors of eight samples, alternating.
    @inline(__always)
    mutating func store(alternating even: SIMD8<Int16>, _ odd: SIMD8<Int16>, at index: Int) {
        var both = SIMD16<UInt8>()
        both.evenHalf = even.bytes
        both.oddHalf = odd.bytes
        store(both.lowHalf, at: index)
        store(both.highHalf, at: index &+ 8)
    }

    /// Writes eight pixels of four bytes each. There must be space for them.
    ///
    /// Not inlined, because the compiler would otherwise process each byte separately.
    @inline(never)
    mutating func store(_ pixels: SIMD32<UInt8>, at index: Int) {
        store(pixels.lowHalf.lowHalf, at: index)
        store(pixels.lowHalf.highHalf, at: index &+ 8)
        store(pixels.highHalf.lowHalf, at: index &+ 16)
        store(pixels.highHalf.highHalf, at: index &+ 24)
    }
}

extension MutableSpan<Int16> {
    /// Writes eight coefficients. There must be space for them.
    @inline(__always)
    mutating func store(_ coefficients: SIMD8<Int16>, at index: Int) {
        precondition(index >= 0 && index <= count &- 8)
        self[index] = coefficients[0]
        self[index &+ 1] = coefficients[1]
        self[index &+ 2] = coefficients[2]
        self[index &+ 3] = coefficients[3]
        self[index &+ 4] = coefficients[4]
        self[index &+ 5] = coefficients[5]
        self[index &+ 6] = coefficients[6]
        self[index &+ 7] = coefficients[7]
    }
}
