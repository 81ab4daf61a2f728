#if Vips
/// The first directory of a TIFF file (TIFF 6.0, section 2), as far as it says how much there is of what.
struct TIFFDirectory {
    /// How many bytes the file takes at least.
    private(set) var byteCount = 8
    /// How many pixels a tile has; 0 if there are none.
    private(set) var tilePixelCount = 0

    private let encoded: EncodedImage
    private let isLittleEndian: Bool

    /// Reads as much of the directory as there is.
    init(of encoded: EncodedImage) {
        self.encoded = encoded
        isLittleEndian = encoded.bytes.first == 0x49
        let start = integer(at: 4, count: 4)
        let count = integer(at: start, count: 2)
        byteCount = max(byteCount, start + 2 + count * 12 + 4)
        guard byteCount <= encoded.bytes.count else { return }
        var (offsets, lengths, tileSides): ([Int], [Int], [Int]) = ([], [], [])
        for index in 0..<count {
            let entry = start + 2 + index * 12
            switch integer(at: entry, count: 2) {
            case 273, 324: offsets = values(of: entry)
            case 279, 325: lengths = values(of: entry)
            case 322, 323: tileSides += values(of: entry).prefix(1)
            default: _ = place(of: entry)
            }
        }
        for (offset, length) in zip(offsets, lengths) { byteCount = max(byteCount, offset + length) }
        if let width = tileSides.first, let height = tileSides.dropFirst().first {
            let (pixels, isTooMany) = width.multipliedReportingOverflow(by: height)
            tilePixelCount = isTooMany ? .max : pixels
        }
    }

    private func integer(at offset: Int, count: Int) -> Int {
        encoded.integer(at: offset, count: count, isLittleEndian: isLittleEndian)
    }

    /// Where the values of an entry are, how many bytes each takes, and how many there are.
    private mutating func place(of entry: Int) -> (offset: Int, width: Int, count: Int) {
        let widths = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]
        let width = widths[integer(at: entry + 2, count: 2)] ?? 1
        let count = integer(at: entry + 4, count: 4)
        guard width * count > 4 else { return (entry + 8, width, count) }
        let offset = integer(at: entry + 8, count: 4)
        byteCount = max(byteCount, offset + width * count)
        return (offset, width, count)
    }

    private mutating func values(of entry: Int) -> [Int] {
        let (offset, width, count) = place(of: entry)
        guard byteCount <= encoded.bytes.count, width <= 4 else { return [] }
        return (0..<count).map { integer(at: offset + $0 * width, count: width) }
    }
}
#endif
