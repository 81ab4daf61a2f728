extension UInt64 {
    /// Its eight bytes, the lowest first.
    var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self &>> UInt64(8 &* $0)) }
    }
}
