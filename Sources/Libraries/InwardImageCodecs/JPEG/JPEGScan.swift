import InwardImages

/// A scan header (T.81 annex B.2.3).
struct JPEGScan {
    /// A component of a scan, with the offsets of its Huffman tables.
    struct Part {
        /// The index of the component in the frame.
        let component: Int
        /// The offset of the DC table, or of the first table if the scan needs none.
        let dc: Int
        /// The offset of the AC table, or of the first table if the scan needs none.
        let ac: Int
    }

    /// The number of the scan in the file, from 1.
    let number: Int
    /// The components of the scan.
    let parts: [Part]
    /// The coefficients of the scan, in the order of ``JPEGZigzag``.
    let band: ClosedRange<Int>
    /// The lowest bit of these coefficients that earlier scans contained, or 0 if there are none.
    let previousBit: Int
    /// The lowest bit of these coefficients in this scan.
    let lastBit: Int

    /// Reads the segment of a scan header.
    ///
    /// - Throws: An error if the header is invalid.
    init(
        _ data: Span<UInt8>,
        _ segment: Range<Int>,
        number: Int,
        _ frame: JPEGFrame,
        _ tables: JPEGTables
    ) throws(ImageCodecError) {
        let start = segment.lowerBound
        let wrong = ImageCodecError.damagedJPEG("has an invalid header in scan \(number), at byte \(start)")
        guard segment.count >= 4 else { throw wrong }
        let count = Int(data[start])
        guard (1...4).contains(count), segment.count == 4 + 2 * count else { throw wrong }
        let end = start + 1 + 2 * count
        let (first, last) = (Int(data[end]), Int(data[end + 1]))
        let (high, low) = (Int(data[end + 2] >> 4), Int(data[end + 2] & 15))
        if frame.isProgressive {
            // Figure G.1 and table G.1: a scan has either DC coefficients, or AC coefficients of one component. A later scan of
            // the same coefficients adds one bit.
            guard first <= last, last < 64, first > 0 || last == 0, first == 0 || count == 1, low < 14,
                high == 0 || high == low + 1
            else { throw wrong }
        } else {
            // Check only the first coefficient. Some libraries write invalid values into the other fields of a sequential scan.
            guard first == 0 else { throw wrong }
        }
        var parts: [Part] = []
        for index in 0..<count {
            let place = start + 1 + 2 * index
            guard let component = frame.components.firstIndex(where: { $0.identifier == data[place] }),
                !parts.contains(where: { $0.component == component }), data[place + 1] >> 4 < 4,
                data[place + 1] & 15 < 4
            else { throw wrong }
            let dc = tables.huffman.start(ofAC: false, Int(data[place + 1] >> 4))
            let ac = tables.huffman.start(ofAC: true, Int(data[place + 1] & 15))
            let needsDC = first == 0 && high == 0
            let needsAC = !frame.isProgressive || first > 0
            guard dc != nil || !needsDC, ac != nil || !needsAC else {
                throw .damagedJPEG("lacks a Huffman table that scan \(number) uses, at byte \(place + 1)")
            }
            parts.append(Part(component: component, dc: dc ?? 0, ac: ac ?? 0))
        }
        let blocks = parts.reduce(0) { sum, part in
            sum + frame.components[part.component].horizontal * frame.components[part.component].vertical
        }
        guard count == 1 || blocks <= 10 else { throw wrong }
        self.number = number
        self.parts = parts
        band = frame.isProgressive ? first...last : 0...63
        previousBit = frame.isProgressive ? high : 0
        lastBit = frame.isProgressive ? low : 0
    }
}

/// The position of a decoder in a scan's entropy-coded data, and its state between blocks.
struct JPEGScanReader {
    /// The bit reader.
    var bits: JPEGBitReader
    /// The DC prediction of each component.
    var predictions = SIMD4<Int32>(repeating: 0)
    /// The number of following blocks without further coefficients in this scan (T.81 annex G.1.2.2).
    var emptyBlocks: Int32 = 0

    private let scan: Int
    private let interval: Int
    private var remaining: Int
    private var restarts = 0

    /// Creates a reader for the entropy-coded data of a scan.
    ///
    /// - Parameters:
    ///   - position: The start of the data.
    ///   - scan: The number of the scan.
    ///   - interval: The number of MCUs between restart markers, or 0 if there are none.
    init(at position: Int, scan: Int, interval: Int) {
        bits = JPEGBitReader(at: position)
        self.scan = scan
        self.interval = interval
        remaining = interval > 0 ? interval : .max
    }

    /// Prepares for the next MCU, and skips the restart marker before it, if any.
    ///
    /// - Throws: An error if the expected marker is missing or another one is found, or if the file ends.
    @inline(__always)
    mutating func beginMCU(_ data: Span<UInt8>) throws(ImageCodecError) {
        if remaining == 0 { try restart(data) }
        remaining &-= 1
    }

    @inline(never)
    private mutating func restart(_ data: Span<UInt8>) throws(ImageCodecError) {
        bits.settle(data)
        var position = bits.position
        guard bits.remaining < 8 else {
            throw .damagedJPEG("has extra data after a block, in scan \(scan) at byte \(position)")
        }
        while position + 1 < data.count, data[position + 1] == 0xFF { position += 1 }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            throw .truncatedJPEG(at: position)
        }
        guard data[position + 1] == JPEGMarker.firstRestart + UInt8(restarts % 8) else {
            throw .damagedJPEG("has a marker other than RST\(restarts % 8), in scan \(scan) at byte \(position)")
        }
        restarts += 1
        bits = JPEGBitReader(at: position + 2)
        predictions = SIMD4(repeating: 0)
        emptyBlocks = 0
        remaining = interval
    }

    /// Returns the reason why a block could not be decoded.
    func failure(_ data: Span<UInt8>) -> ImageCodecError {
        let position = bits.position
        guard bits.isOverdrawn else {
            return .damagedJPEG("has an invalid Huffman code, in scan \(scan) before byte \(position)")
        }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            return .truncatedJPEG(at: position)
        }
        return .damagedJPEG("has an unexpected marker, in scan \(scan) at byte \(position)")
    }
}

/// A reader of bits from entropy-coded data, the most significant bit first (T.81 annex F.2.2.5).
///
/// The reader fetches many bits at a time. After the last bit, it returns zeros, however many are read. So callers check
/// ``isOverdrawn`` after they have read a block.
struct JPEGBitReader {
    /// The next bits, from the top. Bits below the first ``count`` are undefined.
    private(set) var bits: UInt64 = 0
    private var count = 0
    /// The position of the next byte.
    private(set) var position: Int
    /// The number of zeros added after the last bit.
    private var padding = 0

    init(at position: Int) {
        self.position = position
    }

    /// Whether bits beyond the end were used.
    @inline(__always)
    var isOverdrawn: Bool { count < padding }

    /// The number of fetched bits that are left.
    var remaining: Int { max(0, count - padding) }

    /// Ensures that 32 bits are available: enough for a 16-bit code and the value that follows it.
    @inline(__always)
    mutating func prepare(_ data: Span<UInt8>) {
        if count < 32 { fetch(data) }
    }

    /// Skips available bits.
    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &<<= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    /// Returns 1 to 16 available bits.
    @inline(__always)
    mutating func take(_ length: Int) -> Int32 {
        let value = Int32(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: 64 &- length))
        skip(length)
        return value
    }

    @inline(__always)
    private mutating func fetch(_ data: Span<UInt8>) {
        if let word = data.bigEndianWord(at: position),
            (~word &- 0x0101_0101_0101_0101) & word & 0x8080_8080_8080_8080 == 0
        {
            // No byte is 0xFF. Bits that do not fit as a whole byte are fetched again later.
            bits |= word &>> UInt64(truncatingIfNeeded: count)
            let bytes = (63 &- count) &>> 3
            position &+= bytes
            count &+= bytes &* 8
        } else {
            // A copy, so that the other properties can stay in registers.
            self = Self.fetchedByteByByte(self, data)
        }
    }

    /// Fetches bytes that may contain a marker, or a zero after 0xFF.
    @inline(never)
    private static func fetchedByteByByte(_ reader: JPEGBitReader, _ data: Span<UInt8>) -> JPEGBitReader {
        var reader = reader
        while reader.count <= 56 {
            var byte: UInt8 = 0
            if reader.position < data.count, data[reader.position] != 0xFF {
                byte = data[reader.position]
                reader.position += 1
            } else if reader.position + 1 < data.count, data[reader.position + 1] == 0 {
                byte = 0xFF
                reader.position += 2
            } else {
                reader.padding += 8
            }
            reader.bits |= UInt64(byte) << UInt64(56 - reader.count)
            reader.count += 8
        }
        return reader
    }

    /// Fetches the bytes before the next marker, up to the capacity.
    mutating func settle(_ data: Span<UInt8>) {
        self = Self.fetchedByteByByte(self, data)
    }
}
