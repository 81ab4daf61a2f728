// The standard library's equivalents are generic over all integers, and are not inlined into large functions.

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
