/// A TIFF file that consists of a directory, followed by zeros.
struct TIFFFile {
    typealias Entry = (tag: Int, type: Int, count: Int, value: Int)

    var entries: [Entry]
    var isLittleEndian = true
    /// The offset of the next directory.
    var next = 0
    /// The number of zeros after the directory.
    var filling = 0

    /// The bytes of the file.
    var bytes: [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }
        var bytes: [UInt8] = isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
        bytes += number(42, 2) + number(8, 4) + number(entries.count, 2)
        var last: Entry?
        var encoded: [UInt8] = []
        for entry in entries {
            // Tens of thousands of entries may be equal.
            let isRepeated = last.map { $0 == entry } ?? false
            if !isRepeated {
                encoded = number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
                encoded += entry.type == 3 ? number(entry.value, 2) + [0, 0] : number(entry.value, 4)
                last = entry
            }
            bytes += encoded
        }
        return bytes + number(next, 4) + [UInt8](repeating: 0, count: filling)
    }

    /// The entries of an image with one gray pixel.
    static let pixel: [Entry] = [
        (256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8),
        (277, 3, 1, 1), (278, 3, 1, 1), (279, 4, 1, 1),
    ]
}
