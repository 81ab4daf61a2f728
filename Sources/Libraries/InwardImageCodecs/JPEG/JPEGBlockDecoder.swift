/// Decodes the blocks of sequential scans (T.81 annex F.2.2).
enum JPEGBlockDecoder {
    /// What is answered where a code is in no table, or a run leads out of the block.
    static let failure = -1

    /// Decodes a block, whose coefficients were zero before.
    ///
    /// - Parameters:
    ///   - reader: The bits.
    ///   - data: The bytes they are in.
    ///   - entries: The Huffman tables.
    ///   - part: Where those of the component begin.
    ///   - scale: For each coefficient in the order it is coded: in bits 0 to 7 where it stands, above them what to multiply by.
    ///   - scaleStart: Where those of the component begin.
    ///   - prediction: What the DC coefficient differs from; then the coefficient.
    ///   - coefficients: Where they are written, row by row.
    ///   - start: Where the block begins.
    /// - Returns: the place, in the order they are coded, of the last coefficient that is not zero; or ``failure``.
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
        // A run of 16 zeros may not lead out of the block either.
        return index <= 64 ? last : failure
    }

    /// The value that an entry of a table tells, or announces.
    @inline(__always)
    static func value(_ entry: UInt32, _ reader: inout JPEGBitReader) -> Int32 {
        reader.skip(Int(truncatingIfNeeded: entry & 0xFF))
        let size = Int(truncatingIfNeeded: entry &>> 8 & 15)
        guard size != 0 else { return Int32(bitPattern: entry) &>> 16 }
        return JPEGHuffmanTables.extended(reader.take(size), size)
    }
}
