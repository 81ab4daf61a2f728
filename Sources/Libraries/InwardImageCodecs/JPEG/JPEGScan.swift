import InwardImages

/// What a scan header says (T.81 annex B.2.3).
struct JPEGScan {
    /// A component that a scan has, and where the tables begin that it is coded with.
    struct Part {
        /// Which of the components of the frame.
        let component: Int
        /// Where its table for DC coefficients begins; the first, where the scan needs none.
        let dc: Int
        /// Where its table for AC coefficients begins; the first, where the scan needs none.
        let ac: Int
    }

    /// Which scan of the file it is, from 1.
    let number: Int
    /// The components it has.
    let parts: [Part]
    /// The coefficients it has, in the order of ``JPEGZigzag``.
    let band: ClosedRange<Int>
    /// Which bit was the last that an earlier scan gave of them; 0 if there was none.
    let previousBit: Int
    /// Which bit is the last that this one gives of them.
    let lastBit: Int

    /// Reads the segment of a scan header.
    ///
    /// - Throws: what is wrong with it.
    init(
        _ data: Span<UInt8>,
        _ segment: Range<Int>,
        number: Int,
        _ frame: JPEGFrame,
        _ tables: JPEGTables
    ) throws(ImageCodecError) {
        let start = segment.lowerBound
        let wrong = ImageCodecError.damagedJPEG("has a wrong header of scan \(number), at byte \(start)")
        guard segment.count >= 4 else { throw wrong }
        let count = Int(data[start])
        guard (1...4).contains(count), segment.count == 4 + 2 * count else { throw wrong }
        let end = start + 1 + 2 * count
        let (first, last) = (Int(data[end]), Int(data[end + 1]))
        let (high, low) = (Int(data[end + 2] >> 4), Int(data[end + 2] & 15))
        if frame.isProgressive {
            // Figure G.1 and table G.1: DC coefficients alone, AC coefficients of one component, a bit better at a time.
            guard first <= last, last < 64, first > 0 || last == 0, first == 0 || count == 1, low < 14,
                high == 0 || high == low + 1
            else { throw wrong }
        } else {
            // What libraries write here is not always what a sequential scan has to say.
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
                throw .damagedJPEG("has no Huffman table that scan \(number) refers to, at byte \(place + 1)")
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

/// Where a decoder is in the entropy-coded data of a scan, and what it remembers from one block to the next.
struct JPEGScanReader {
    /// The bits.
    var bits: JPEGBitReader
    /// What the next DC coefficient of each component differs from.
    var predictions = SIMD4<Int32>(repeating: 0)
    /// How many blocks that follow have no coefficient more in this scan (T.81 annex G.1.2.2).
    var emptyBlocks: Int32 = 0

    private let scan: Int
    private let interval: Int
    private var remaining: Int
    private var restarts = 0

    /// Begins with the entropy-coded data of a scan.
    ///
    /// - Parameters:
    ///   - position: Where they begin.
    ///   - scan: Which scan it is.
    ///   - interval: How many MCUs are coded on their own; 0 if all are coded together.
    init(at position: Int, scan: Int, interval: Int) {
        bits = JPEGBitReader(at: position)
        self.scan = scan
        self.interval = interval
        remaining = interval > 0 ? interval : .max
    }

    /// Gets ready for an MCU: passes over the marker that stands before it, if one does.
    ///
    /// - Throws: that another marker stands there, or none; or that the file ends.
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
            throw .damagedJPEG("has data that belong to no block, in scan \(scan) at byte \(position)")
        }
        while position + 1 < data.count, data[position + 1] == 0xFF { position += 1 }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            throw .truncatedJPEG(at: position)
        }
        guard data[position + 1] == JPEGMarker.firstRestart + UInt8(restarts % 8) else {
            throw .damagedJPEG("has another marker than RST\(restarts % 8), in scan \(scan) at byte \(position)")
        }
        restarts += 1
        bits = JPEGBitReader(at: position + 2)
        predictions = SIMD4(repeating: 0)
        emptyBlocks = 0
        remaining = interval
    }

    /// Why a block could not be decoded.
    func failure(_ data: Span<UInt8>) -> ImageCodecError {
        let position = bits.position
        guard bits.isOverdrawn else {
            return .damagedJPEG("has a Huffman code that no table has, in scan \(scan) before byte \(position)")
        }
        guard position + 1 < data.count, data[position + 1] != JPEGMarker.endOfImage else {
            return .truncatedJPEG(at: position)
        }
        return .damagedJPEG("has a marker among the blocks, in scan \(scan) at byte \(position)")
    }
}

/// Takes bits from entropy-coded data, the most significant first (T.81 annex F.2.2.5).
///
/// Many are fetched at a time. After the last one follow zeros, as many as are asked for: whoever reads asks afterwards whether
/// any of them was taken.
struct JPEGBitReader {
    /// The next bits, from the top. What is below the first ``count`` is nothing, or what follows anyway.
    private(set) var bits: UInt64 = 0
    private var count = 0
    /// Where the next byte is.
    private(set) var position: Int
    /// How many zeros were put after the last bit.
    private var padding = 0

    init(at position: Int) {
        self.position = position
    }

    /// Whether bits were taken that are not there.
    @inline(__always)
    var isOverdrawn: Bool { count < padding }

    /// How many bits are left that were fetched.
    var remaining: Int { max(0, count - padding) }

    /// See to it that 32 bits can be taken: as many as a code of 16 bits and what it announces need.
    @inline(__always)
    mutating func prepare(_ data: Span<UInt8>) {
        if count < 32 { fetch(data) }
    }

    /// Passes over bits that were prepared.
    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &<<= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    /// Takes 1 to 16 bits that were prepared.
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
            // None of them is 0xFF. What does not fit whole is fetched again.
            bits |= word &>> UInt64(truncatingIfNeeded: count)
            let bytes = (63 &- count) &>> 3
            position &+= bytes
            count &+= bytes &* 8
        } else {
            // A copy, so that the others of a block can stay in registers.
            self = Self.fetchedByteByByte(self, data)
        }
    }

    /// Fetches what may have a marker, or a zero that follows 0xFF lest it be taken for one.
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

    /// Fetches what is there before the next marker, so far as there is room.
    mutating func settle(_ data: Span<UInt8>) {
        self = Self.fetchedByteByByte(self, data)
    }
}
