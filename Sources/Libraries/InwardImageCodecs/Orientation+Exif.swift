import InwardImages

extension Orientation {
    private static let tag = 0x0112
    private static let short = 3

    /// Reads the orientation from Exif data (in TIFF 6.0 format), as stored in a PNG chunk or JPEG segment. Returns `nil` if
    /// there is none or the data is invalid.
    init?(exif bytes: Span<UInt8>) {
        guard bytes.count >= 8 else { return nil }
        let isLittleEndian: Bool
        switch (bytes[0], bytes[1]) {
        case (0x49, 0x49): isLittleEndian = true
        case (0x4D, 0x4D): isLittleEndian = false
        default: return nil
        }
        func number(_ index: Int) -> Int {
            let number = bytes.bigEndian16(at: index)
            return isLittleEndian ? Int(UInt16(truncatingIfNeeded: number).byteSwapped) : number
        }
        let (low, high) = isLittleEndian ? (4, 6) : (6, 4)
        guard number(2) == 42 else { return nil }
        let directory = number(high) << 16 | number(low)
        guard directory >= 8, directory <= bytes.count - 2 else { return nil }
        for entry in 0..<number(directory) {
            let start = directory + 2 + 12 * entry
            guard start <= bytes.count - 12 else { return nil }
            guard number(start) == Self.tag else { continue }
            // A single 16-bit value is stored in the entry itself. A valid directory does not repeat tags.
            guard number(start + 2) == Self.short else { return nil }
            self.init(rawValue: number(start + 8))
            return
        }
        return nil
    }

    /// Exif data that contains only this orientation.
    var exif: [UInt8] {
        [
            0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(truncatingIfNeeded: rawValue),
            0,
            0, 0, 0, 0, 0,
        ]
    }
}
