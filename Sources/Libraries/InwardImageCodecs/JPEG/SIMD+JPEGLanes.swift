// What the standard library has for this works for all integers, and is called for each vector where much is inlined.

extension SIMD8<UInt8> {
    /// The bytes, with room to reckon with them.
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
    /// The numbers, with room to multiply them.
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

    /// The lower halves of the numbers.
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

    /// The numbers; for those outside of 0 to 255 the nearest of these.
    @inline(__always)
    var clampedToBytes: SIMD8<Int16> {
        // All bits of these are set where a number is too small or too large.
        let isLess = self &>> 15
        let isMore = (255 &- self) &>> 15
        return (self & ~isLess | isMore) & 255
    }
}

extension SIMD8<Int32> {
    /// The lower halves of the numbers.
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
    /// The numbers, with room to multiply them.
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
    /// The lower halves of the numbers.
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
    /// The same bits as numbers without a sign.
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
    /// The same bits as numbers with a sign.
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

    /// The numbers, with room to multiply them.
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

    /// The upper halves of products.
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
