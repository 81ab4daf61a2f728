// The equivalents in the standard library are generic over all integers, and the compiler does not inline them into large
// functions.

extension SIMD8<UInt8> {
    /// The bytes as 16-bit integers, for arithmetic.
    @inline(__always)
    var levels: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3]),
            Int16(truncatingIfNeeded: self[4]),
            Int16(truncatingIfNeeded: self[5]),
            Int16(truncatingIfNeeded: self[6]),
            Int16(truncatingIfNeeded: self[7])
        )
    }
}

extension SIMD8<Int16> {
    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD8<Int32> {
        SIMD8<Int32>(
            Int32(truncatingIfNeeded: self[0]),
            Int32(truncatingIfNeeded: self[1]),
            Int32(truncatingIfNeeded: self[2]),
            Int32(truncatingIfNeeded: self[3]),
            Int32(truncatingIfNeeded: self[4]),
            Int32(truncatingIfNeeded: self[5]),
            Int32(truncatingIfNeeded: self[6]),
            Int32(truncatingIfNeeded: self[7])
        )
    }

    /// The lower halves of the elements.
    @inline(__always)
    var bytes: SIMD8<UInt8> {
        SIMD8<UInt8>(
            UInt8(truncatingIfNeeded: self[0]),
            UInt8(truncatingIfNeeded: self[1]),
            UInt8(truncatingIfNeeded: self[2]),
            UInt8(truncatingIfNeeded: self[3]),
            UInt8(truncatingIfNeeded: self[4]),
            UInt8(truncatingIfNeeded: self[5]),
            UInt8(truncatingIfNeeded: self[6]),
            UInt8(truncatingIfNeeded: self[7])
        )
    }

    /// Returns the upper halves of the products with a factor.
    @inline(__always)
    func upperProduct(_ factor: Int32) -> SIMD8<Int16> { ((wide &* factor) &>> 16).narrow }

    /// The elements, clamped to 0 through 255.
    @inline(__always)
    var clampedToBytes: SIMD8<Int16> {
        // All bits are set where an element is too small or too large.
        let isLess = self &>> 15
        let isMore = (255 &- self) &>> 15
        return (self & ~isLess | isMore) & 255
    }
}

extension SIMD8<Int32> {
    /// The lower halves of the elements.
    @inline(__always)
    var narrow: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3]),
            Int16(truncatingIfNeeded: self[4]),
            Int16(truncatingIfNeeded: self[5]),
            Int16(truncatingIfNeeded: self[6]),
            Int16(truncatingIfNeeded: self[7])
        )
    }
}

extension SIMD8<UInt32> {
    /// The lower halves of the elements.
    @inline(__always)
    var narrow: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3]),
            Int16(truncatingIfNeeded: self[4]),
            Int16(truncatingIfNeeded: self[5]),
            Int16(truncatingIfNeeded: self[6]),
            Int16(truncatingIfNeeded: self[7])
        )
    }
}

extension SIMD4<Int16> {
    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD4<Int32> {
        SIMD4<Int32>(
            Int32(truncatingIfNeeded: self[0]),
            Int32(truncatingIfNeeded: self[1]),
            Int32(truncatingIfNeeded: self[2]),
            Int32(truncatingIfNeeded: self[3])
        )
    }
}

extension SIMD4<Int32> {
    /// The lower halves of the elements.
    @inline(__always)
    var narrow: SIMD4<Int16> {
        SIMD4<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3])
        )
    }
}

extension SIMD8<Int16> {
    /// The same bits as unsigned integers.
    @inline(__always)
    var unsigned: SIMD8<UInt16> {
        SIMD8<UInt16>(
            UInt16(bitPattern: self[0]),
            UInt16(bitPattern: self[1]),
            UInt16(bitPattern: self[2]),
            UInt16(bitPattern: self[3]),
            UInt16(bitPattern: self[4]),
            UInt16(bitPattern: self[5]),
            UInt16(bitPattern: self[6]),
            UInt16(bitPattern: self[7])
        )
    }
}

extension SIMD8<UInt16> {
    /// The same bits as signed integers.
    @inline(__always)
    var signed: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(bitPattern: self[0]),
            Int16(bitPattern: self[1]),
            Int16(bitPattern: self[2]),
            Int16(bitPattern: self[3]),
            Int16(bitPattern: self[4]),
            Int16(bitPattern: self[5]),
            Int16(bitPattern: self[6]),
            Int16(bitPattern: self[7])
        )
    }

    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD8<UInt32> {
        SIMD8<UInt32>(
            UInt32(self[0]),
            UInt32(self[1]),
            UInt32(self[2]),
            UInt32(self[3]),
            UInt32(self[4]),
            UInt32(self[5]),
            UInt32(self[6]),
            UInt32(self[7])
        )
    }

    /// Returns the upper halves of the products.
    @inline(__always)
    func upperProduct(_ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
        let product = (wide &* other.wide) &>> 16
        return SIMD8<UInt16>(
            UInt16(truncatingIfNeeded: product[0]),
            UInt16(truncatingIfNeeded: product[1]),
            UInt16(truncatingIfNeeded: product[2]),
            UInt16(truncatingIfNeeded: product[3]),
            UInt16(truncatingIfNeeded: product[4]),
            UInt16(truncatingIfNeeded: product[5]),
            UInt16(truncatingIfNeeded: product[6]),
            UInt16(truncatingIfNeeded: product[7])
        )
    }
}

// A span offers no vectors, and decoding takes up to twice as long if their lanes are accessed one by one. The unsafe accesses
// below are safe: they check their bounds, need no alignment, and every bit pattern is a valid integer or vector of integers.
// Integers that are wider than the span's elements are in the byte order of the processor, which is little-endian on every
// platform of this package.

extension Span<UInt8> {
    /// Returns eight bytes as a big-endian integer, or `nil` if there are fewer.
    @inline(__always)
    func bigEndianWord(at index: Int) -> UInt64? {
        guard index >= 0, index <= count &- 8 else { return nil }
        // `unsafe`: the load checks its bounds, and every bit pattern is a valid integer.
        return UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Returns eight bytes, which must exist.
    @inline(__always)
    func eightBytes(at index: Int) -> SIMD8<UInt8> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self)
    }

    /// Returns eight pixels of four bytes each, with the first byte lowest. The pixels must exist.
    @inline(__always)
    func eightPixels(at index: Int) -> SIMD8<UInt32> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD8<UInt32>.self)
    }
}

extension MutableSpan<UInt8> {
    /// Returns eight samples, which must exist.
    @inline(__always)
    func eightSamples(at index: Int) -> SIMD8<UInt8> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self)
    }

    /// Returns eight samples as 16-bit integers. The samples must exist.
    @inline(__always)
    func eightLevels(at index: Int) -> SIMD8<Int16> {
        eightSamples(at: index).levels
    }

    /// Writes eight samples. There must be space for them.
    @inline(__always)
    mutating func store(_ samples: SIMD8<UInt8>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: samples, toByteOffset: index, as: SIMD8<UInt8>.self)
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

    /// Writes two vectors of eight samples, alternating. No sample may be negative or more than 255.
    @inline(__always)
    mutating func store(alternating even: SIMD8<Int16>, _ odd: SIMD8<Int16>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: even | odd &<< 8, toByteOffset: index, as: SIMD8<Int16>.self)
    }

    /// Writes eight pixels of four bytes each, the lowest byte first. There must be space for them.
    @inline(__always)
    mutating func store(_ pixels: SIMD8<UInt32>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: pixels, toByteOffset: index, as: SIMD8<UInt32>.self)
    }
}

extension Span<Int16> {
    /// Returns eight coefficients, which must exist.
    @inline(__always)
    func eightCoefficients(at index: Int) -> SIMD8<Int16> {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 2 * index, as: SIMD8<Int16>.self)
    }
}

extension MutableSpan<Int16> {
    /// Writes eight coefficients. There must be space for them.
    @inline(__always)
    mutating func store(_ coefficients: SIMD8<Int16>, at index: Int) {
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: coefficients, toByteOffset: 2 * index, as: SIMD8<Int16>.self)
    }
}
