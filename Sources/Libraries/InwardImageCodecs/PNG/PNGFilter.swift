/// How the bytes of a row are told by those before and above them (ISO/IEC 15948, section 9).
enum PNGFilter: UInt8, CaseIterable {
    case none = 0
    case sub = 1
    case up = 2
    case average = 3
    case paeth = 4

    /// Makes the bytes of a row what they were before they were filtered.
    ///
    /// - Parameters:
    ///   - row: The bytes that become those of the row.
    ///   - above: The bytes of the row above, as many.
    ///   - source: Where the filtered bytes are.
    ///   - start: Where they begin there.
    ///   - distance: How far the bytes of a pixel are from those of the one before.
    func reconstruct(
        _ row: inout MutableSpan<UInt8>,
        above: Span<UInt8>,
        from source: Span<UInt8>,
        at start: Int,
        distance: Int
    ) {
        for index in 0..<row.count {
            let hasLeft = index >= distance
            row[index] =
                source[start &+ index]
                &+ predicted(
                    hasLeft ? row[index &- distance] : 0,
                    above[index],
                    hasLeft ? above[index &- distance] : 0
                )
        }
    }

    /// What a byte is expected to be by those to the left, above, and above that to the left.
    @inline(__always)
    func predicted(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        switch self {
        case .none: 0
        case .sub: left
        case .up: above
        case .average: Self.average(left, above)
        case .paeth: Self.paeth(left, above, corner)
        }
    }

    /// The mean of two bytes, rounded down.
    @inline(__always)
    private static func average(_ left: UInt8, _ above: UInt8) -> UInt8 { (left & above) &+ (left ^ above) &>> 1 }

    /// Whichever of three bytes is nearest to what they make expected (ISO/IEC 15948, section 9.4).
    @inline(__always)
    private static func paeth(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        let toLeft = abs(Int32(above) &- Int32(corner))
        let toAbove = abs(Int32(left) &- Int32(corner))
        let toCorner = abs(Int32(left) &+ Int32(above) &- 2 &* Int32(corner))
        if toLeft <= toAbove, toLeft <= toCorner { return left }
        return toAbove <= toCorner ? above : corner
    }
}
