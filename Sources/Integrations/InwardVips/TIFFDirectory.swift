import InwardImages

/// The first directory of a TIFF file (TIFF 6.0, section 2), checked before the file is passed to libvips.
///
/// libvips reads all directories of a file, and the values of all their tags, before it returns the image size. The values can
/// overlap, so that reading them takes far longer than reading the file. So this type limits the number of entries and the
/// total size of their values. It also finds the offset of the second directory, which ``CheckedImage`` clears because only the
/// first image is decoded.
struct TIFFDirectory {
    /// The maximum number of entries in a directory. Camera files have fewer than 100.
    static let maximumEntryCount = 512

    /// The minimum size in bytes of a complete file.
    private(set) var byteCount = 8
    /// The number of pixels in a tile, or 0 if there are no tiles.
    private(set) var tilePixelCount = 0
    /// The position of the second directory's offset, or `nil` if there is no second directory.
    private(set) var nextOffsetPosition: Int?
    /// The number of entries and values read.
    private(set) var stepCount = 0

    private let isLittleEndian: Bool

    /// An array of numbers in the file.
    private struct Values {
        var offset = 0
        var width = 0
        var count = 0
    }

    /// Returns whether the bytes begin like a TIFF file with 4-byte offsets.
    static func isTIFF(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42])
    }

    /// Reads the first directory as far as the file goes. If several entries have the same tag, the first one counts.
    ///
    /// - Throws: An `ImageCodecError` if the directory has too many entries, if its values overlap and together are larger
    ///   than the file, or if the task is cancelled.
    /// - Complexity: O(n) in the number of bytes.
    init(of bytes: Span<UInt8>) throws(ImageCodecError) {
        isLittleEndian = !bytes.isEmpty && bytes[0] == 0x49
        let start = integer(at: 4, count: 4, of: bytes)
        let count = integer(at: start, count: 2, of: bytes)
        let end = start + 2 + count * 12
        byteCount = max(byteCount, end + 4)
        guard count <= Self.maximumEntryCount else {
            guard byteCount <= bytes.count else {
                throw ImageCodecError(.truncated(.tiff), "ends within its directory, after \(bytes.count) bytes")
            }
            throw ImageCodecError(
                .unsupported(.tiff),
                "has a directory with \(count) entries, more than the \(Self.maximumEntryCount) allowed"
            )
        }
        guard byteCount <= bytes.count else { return }
        if integer(at: end, count: 4, of: bytes) != 0 { nextOffsetPosition = end }
        try readEntries(from: start + 2, count, of: bytes)
    }

    private mutating func readEntries(from start: Int, _ count: Int, of bytes: Span<UInt8>) throws(ImageCodecError) {
        var tags: Set<Int> = []
        var valueByteCount = 0
        var (offsets, lengths, tileWidth, tileHeight) = (Values(), Values(), 0, 0)
        for index in 0..<count {
            let entry = start + index * 12
            stepCount += 1
            let tag = integer(at: entry, count: 2, of: bytes)
            guard tags.insert(tag).inserted else { continue }
            let values = values(of: entry, of: bytes)
            let length = values.width * values.count
            if length > 4 {
                byteCount = max(byteCount, values.offset + length)
                valueByteCount += max(0, min(length, bytes.count - values.offset))
            }
            guard valueByteCount <= bytes.count else {
                throw ImageCodecError(.damaged(.tiff), "has directory values that need more bytes than the file has")
            }
            switch tag {
            case 273, 324: offsets = values
            case 279, 325: lengths = values
            case 322: tileWidth = number(0, of: values, of: bytes)
            case 323: tileHeight = number(0, of: values, of: bytes)
            default: continue
            }
        }
        let (pixels, isTooMany) = tileWidth.multipliedReportingOverflow(by: tileHeight)
        tilePixelCount = isTooMany ? .max : pixels
        try readStrips(offsets, lengths, of: bytes)
    }

    /// Finds the end of the last strip or tile.
    private mutating func readStrips(
        _ offsets: Values,
        _ lengths: Values,
        of bytes: Span<UInt8>
    ) throws(ImageCodecError) {
        guard byteCount <= bytes.count else { return }
        for index in 0..<min(offsets.count, lengths.count) {
            if index % 4_096 == 0 { try ImageCodecError.checkCancellation() }
            stepCount += 2
            let (end, isTooMany) = number(index, of: offsets, of: bytes)
                .addingReportingOverflow(number(index, of: lengths, of: bytes))
            byteCount = isTooMany ? .max : max(byteCount, end)
        }
    }

    /// Returns the location of an entry's values, which is empty if their type is unknown.
    private func values(of entry: Int, of bytes: Span<UInt8>) -> Values {
        let width =
            switch integer(at: entry + 2, count: 2, of: bytes) {
            case 1, 2, 6, 7: 1
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12, 16, 17, 18: 8
            default: 0
            }
        let count = width > 0 ? integer(at: entry + 4, count: 4, of: bytes) : 0
        let isInEntry = width * count <= 4
        let offset = isInEntry ? entry + 8 : integer(at: entry + 8, count: 4, of: bytes)
        return Values(offset: offset, width: width, count: count)
    }

    /// Returns one value of an entry, or 0 if there are fewer.
    private func number(_ index: Int, of values: Values, of bytes: Span<UInt8>) -> Int {
        guard index < values.count else { return 0 }
        return integer(at: values.offset + index * values.width, count: values.width, of: bytes)
    }

    /// Reads an integer. Missing bytes count as 0, and larger numbers become `Int.max`.
    private func integer(at offset: Int, count: Int, of bytes: Span<UInt8>) -> Int {
        var value: UInt64 = 0
        for index in 0..<count {
            let place = offset &+ (isLittleEndian ? count &- 1 &- index : index)
            value = value << 8 | (bytes.indices.contains(place) ? UInt64(bytes[place]) : 0)
        }
        return Int(clamping: value)
    }
}
