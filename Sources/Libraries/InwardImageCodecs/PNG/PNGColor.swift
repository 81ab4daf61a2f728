/// The four bytes of a pixel in one number, red lowest.
struct PNGColor: RawRepresentable, Hashable {
    var rawValue: UInt32

    @inline(__always)
    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inline(__always)
    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) {
        rawValue = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
    }

    var red: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
    var green: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    var blue: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 16) }
    var alpha: UInt8 {
        get { UInt8(truncatingIfNeeded: rawValue >> 24) }
        set { rawValue = rawValue & 0x00FF_FFFF | UInt32(newValue) << 24 }
    }
}
