/// A decoder for the blocks of sequential scans (T.81 annex F.2.2).
enum JPEGBlockDecoder {
    /// The result if a code is not in its table or a run extends beyond the block.
    static let failure = -1

    /// Decodes a block into coefficients that are initially zero.
    ///
    /// - Parameters:
    ///   - reader: The bit reader.
    ///   - data: The bytes of the file.
    ///   - entries: The Huffman tables.
    ///   - part: The component of the scan, with the offsets of its tables.
    ///   - scale: One value for each coefficient, in coding order: its position in the block in bits 0 to 7, and its factor
    ///     above.
    ///   - scaleStart: The offset of the component's values in `scale`.
    ///   - prediction: The DC prediction. It is replaced by the block's DC coefficient.
    ///   - coefficients: Receives the coefficients, row by row.
    ///   - start: The offset of the block.
    /// - Returns: The index, in coding order, of the last nonzero coefficient, or ``failure``.
    @inline(__always)
    static func decode(
        _ reader: inout JPEGBitReader,
        _ data: Span<UInt8>,
        _ entries: Span<UInt32>,
        _ part: JPEGScan.Part,
        _ scale: Span<UInt32>,
        _ scaleStart: Int,
        _ prediction: inout Int32,
        _ coefficients: inout MutableSpan<Int16>,
        at start: Int
    ) -> Int {
        reader.prepare(data)
        let entry = JPEGHuffmanTables.entry(for: reader.bits, in: entries, at: part.dc)
        guard entry != 0 else { return failure }
        prediction &+= value(entry, &reader)
        coefficients[start] = Int16(
            truncatingIfNeeded: prediction &* Int32(truncatingIfNeeded: scale[scaleStart] &>> 8)
        )
        var last = 0
        var index = 1
        while index < 64 {
            reader.prepare(data)
            let entry = JPEGHuffmanTables.entry(for: reader.bits, in: entries, at: part.ac)
            index &+= Int(truncatingIfNeeded: entry &>> 12 & 15)
            let value = value(entry, &reader)
            if value != 0 {
                guard index < 64 else { return failure }
                let factor = scale[scaleStart &+ index]
                coefficients[start &+ Int(truncatingIfNeeded: factor & 63)] = Int16(
                    truncatingIfNeeded: value &* Int32(truncatingIfNeeded: factor &>> 8)
                )
                last = index
            } else {
                guard entry != 0 else { return failure }
                let run = entry &>> 12 & 15
                if run == 0 { break }
                guard run == 15 else { return failure }
            }
            index &+= 1
        }
        // A run of 16 zeros can also extend beyond the block, which is an error.
        return index <= 64 ? last : failure
    }

    /// Returns the value that a table entry contains, or else the value whose bits follow.
    @inline(__always)
    static func value(_ entry: UInt32, _ reader: inout JPEGBitReader) -> Int32 {
        reader.skip(Int(truncatingIfNeeded: entry & 0xFF))
        let size = Int(truncatingIfNeeded: entry &>> 8 & 15)
        guard size != 0 else { return Int32(bitPattern: entry) &>> 16 }
        return JPEGHuffmanTables.extended(reader.take(size), size)
    }
}

/// A decoder for the blocks of progressive scans (T.81 annex G).
struct JPEGProgressiveDecoder {
    private let band: ClosedRange<Int>
    private let previousBit: Int
    private let lastBit: Int32

    init(_ scan: JPEGScan) {
        band = scan.band
        previousBit = scan.previousBit
        lastBit = Int32(scan.lastBit)
    }

    /// Decodes a block's part of a scan.
    ///
    /// - Parameters:
    ///   - reader: The bit reader and the state carried over from earlier blocks.
    ///   - data: The bytes of the file.
    ///   - entries: The Huffman tables.
    ///   - part: The component of the scan, with the offsets of its tables.
    ///   - order: The position of each coefficient in a block.
    ///   - coefficients: The coefficients.
    ///   - start: The offset of the block.
    /// - Returns: Whether every code was in its table and every run stayed within the block.
    func decode(
        _ reader: inout JPEGScanReader,
        _ data: Span<UInt8>,
        _ entries: Span<UInt32>,
        _ part: JPEGScan.Part,
        _ order: Span<UInt8>,
        _ coefficients: inout MutableSpan<Int16>,
        at start: Int
    ) -> Bool {
        if band.lowerBound > 0 {
            return previousBit == 0
                ? decodeAC(&reader, data, entries, part, order, &coefficients, start)
                : refineAC(&reader, data, entries, part, order, &coefficients, start)
        }
        reader.bits.prepare(data)
        if previousBit > 0 {
            let bit = reader.bits.take(1) &<< lastBit
            coefficients[start] |= Int16(truncatingIfNeeded: bit)
            return true
        }
        let entry = JPEGHuffmanTables.entry(for: reader.bits.bits, in: entries, at: part.dc)
        reader.predictions[part.component] &+= JPEGBlockDecoder.value(entry, &reader.bits)
        coefficients[start] = Int16(truncatingIfNeeded: reader.predictions[part.component] &<< lastBit)
        return entry != 0
    }

    /// Decodes the first bits of AC coefficients (G.1.2.2).
    private func decodeAC(
        _ reader: inout JPEGScanReader,
        _ data: Span<UInt8>,
        _ entries: Span<UInt32>,
        _ part: JPEGScan.Part,
        _ order: Span<UInt8>,
        _ coefficients: inout MutableSpan<Int16>,
        _ start: Int
    ) -> Bool {
        guard reader.emptyBlocks == 0 else {
            reader.emptyBlocks -= 1
            return true
        }
        var bits = reader.bits
        defer { reader.bits = bits }
        var index = band.lowerBound
        while index <= band.upperBound {
            bits.prepare(data)
            let entry = JPEGHuffmanTables.entry(for: bits.bits, in: entries, at: part.ac)
            guard entry != 0 else { return false }
            let run = Int(truncatingIfNeeded: entry &>> 12 & 15)
            let value = JPEGBlockDecoder.value(entry, &bits)
            if value != 0 {
                index &+= run
                guard index <= band.upperBound else { return false }
                coefficients[start &+ Int(order[index])] = Int16(truncatingIfNeeded: value &<< lastBit)
                index &+= 1
            } else if run == 15 {
                index &+= 16
            } else {
                reader.emptyBlocks = Self.emptyBlocks(run, &bits) - 1
                break
            }
        }
        return true
    }

    /// Returns the number of blocks without further coefficients, including this one.
    @inline(__always)
    private static func emptyBlocks(_ size: Int, _ bits: inout JPEGBitReader) -> Int32 {
        size == 0 ? 1 : 1 &<< Int32(truncatingIfNeeded: size) &+ bits.take(size)
    }

    /// Decodes one further bit of AC coefficients (G.1.2.3).
    private func refineAC(
        _ reader: inout JPEGScanReader,
        _ data: Span<UInt8>,
        _ entries: Span<UInt32>,
        _ part: JPEGScan.Part,
        _ order: Span<UInt8>,
        _ coefficients: inout MutableSpan<Int16>,
        _ start: Int
    ) -> Bool {
        var bits = reader.bits
        defer { reader.bits = bits }
        let bit = Int16(truncatingIfNeeded: 1 as Int32 &<< lastBit)
        var index = band.lowerBound
        if reader.emptyBlocks == 0 {
            while index <= band.upperBound {
                bits.prepare(data)
                let entry = JPEGHuffmanTables.entry(for: bits.bits, in: entries, at: part.ac)
                guard entry != 0 else { return false }
                var run = Int(truncatingIfNeeded: entry &>> 12 & 15)
                let value = JPEGBlockDecoder.value(entry, &bits)
                // A coefficient that becomes nonzero is 1 or -1 at this bit.
                guard (-1...1).contains(value) else { return false }
                if value == 0, run < 15 {
                    reader.emptyBlocks = Self.emptyBlocks(run, &bits)
                    break
                }
                while index <= band.upperBound {
                    let place = start &+ Int(order[index])
                    if coefficients[place] != 0 {
                        Self.refine(&coefficients[place], bit, &bits, data)
                    } else if run > 0 {
                        run &-= 1
                    } else {
                        break
                    }
                    index &+= 1
                }
                if value != 0 {
                    guard index <= band.upperBound else { return false }
                    coefficients[start &+ Int(order[index])] = value > 0 ? bit : 0 &- bit
                }
                index &+= 1
            }
        }
        guard reader.emptyBlocks > 0 else { return true }
        reader.emptyBlocks -= 1
        while index <= band.upperBound {
            let place = start &+ Int(order[index])
            if coefficients[place] != 0 { Self.refine(&coefficients[place], bit, &bits, data) }
            index &+= 1
        }
        return true
    }

    /// Reads a correction bit of a coefficient.
    @inline(__always)
    private static func refine(
        _ coefficient: inout Int16,
        _ bit: Int16,
        _ bits: inout JPEGBitReader,
        _ data: Span<UInt8>
    ) {
        bits.prepare(data)
        guard bits.take(1) != 0, coefficient & bit == 0 else { return }
        coefficient = coefficient > 0 ? coefficient &+ bit : coefficient &- bit
    }
}
