import InwardImages

/// The coefficients of all blocks of an image, collected from several scans.
struct JPEGCoefficients {
    private let frame: JPEGFrame
    /// 64 coefficients for each block, row by row.
    private var values: [Int16]
    /// The dequantization factors of each component, row by row.
    private var factors: [Int16]
    /// The lowest bit that is known of each coefficient of each component, in coding order, or -1 if none is known.
    private var lastBits: [Int]

    /// Creates zero coefficients for a frame.
    init(_ frame: JPEGFrame) {
        self.frame = frame
        values = [Int16](repeating: 0, count: 64 * frame.blocks)
        factors = [Int16](repeating: 0, count: 64 * frame.components.count)
        lastBits = [Int](repeating: -1, count: 64 * frame.components.count)
    }

    /// Returns the size of a frame's coefficients in bytes.
    static func byteCount(_ frame: JPEGFrame) -> Int { 64 * frame.blocks * MemoryLayout<Int16>.stride }

    /// A component that no scan has covered, or `nil` if all are covered.
    var missingComponent: Int? { frame.components.indices.first { lastBits[64 * $0] < 0 } }

    /// Decodes a scan.
    ///
    /// - Returns: The position of its end.
    mutating func decode(
        _ scan: JPEGScan,
        _ data: Span<UInt8>,
        _ tables: JPEGTables,
        at position: Int
    ) throws(ImageCodecError) -> Int {
        try begin(scan, tables, at: position)
        var reader = JPEGScanReader(at: position, scan: scan.number, interval: tables.restartInterval)
        let decoder = frame.isProgressive ? JPEGProgressiveDecoder(scan) : nil
        let entries = tables.huffman.entries
        let frame = frame
        let isAlone = scan.parts.count == 1
        let alone = frame.components[scan.parts[0].component]
        let (across, down) = isAlone ? (alone.blocksAcross, alone.blocksDown) : (frame.mcusAcross, frame.mcusDown)
        let order = JPEGZigzag.order
        // The coefficients of sequential scans are dequantized after all scans.
        let scale = order.map { UInt32($0) | 1 << 8 }
        for row in 0..<down {
            try ImageCodecError.checkCancellation()
            var values = values.mutableSpan
            for column in 0..<across {
                try reader.beginMCU(data)
                for part in scan.parts {
                    let component = frame.components[part.component]
                    let (width, height) = isAlone ? (1, 1) : (component.horizontal, component.vertical)
                    for block in 0..<width * height {
                        let (y, x) = (row * height + block / width, column * width + block % width)
                        let start = 64 * (component.firstBlock + y * component.storedBlocksAcross + x)
                        let isRight =
                            if let decoder {
                                decoder.decode(&reader, data, entries.span, part, order.span, &values, at: start)
                            } else {
                                JPEGBlockDecoder.decode(
                                    &reader.bits,
                                    data,
                                    entries.span,
                                    part,
                                    scale.span,
                                    0,
                                    &reader.predictions[part.component],
                                    &values,
                                    at: start
                                ) != JPEGBlockDecoder.failure
                            }
                        guard isRight, !reader.bits.isOverdrawn else { throw reader.failure(data) }
                    }
                }
            }
        }
        return reader.bits.position
    }

    /// Checks that a scan contains coefficients that are not known yet, or refines known ones by the next bit.
    private mutating func begin(
        _ scan: JPEGScan,
        _ tables: JPEGTables,
        at position: Int
    ) throws(ImageCodecError) {
        for part in scan.parts {
            let first = 64 * part.component
            let number = frame.components[part.component].quantization
            if !lastBits[first..<first + 64].contains(where: { $0 >= 0 }) {
                let table = tables.quantization[number]
                guard !table.isEmpty else { throw .damagedJPEG("has no quantization table \(number)") }
                for (place, factor) in zip(JPEGZigzag.order, table) {
                    factors[first + Int(place)] = Int16(truncatingIfNeeded: factor)
                }
            }
            for index in scan.band {
                guard lastBits[first + index] == (scan.previousBit == 0 ? -1 : scan.previousBit) else {
                    throw .damagedJPEG(
                        "repeats coefficients, or has them out of order, in scan \(scan.number) at byte \(position)"
                    )
                }
                lastBits[first + index] = scan.lastBit
            }
        }
    }

    /// Transforms the coefficients of a row of MCUs to samples, or only those of the components that upsampling interpolates in
    /// the next row.
    func transform(_ band: Int, _ layout: JPEGLayout, isNeighbor: Bool = false, to samples: inout MutableSpan<UInt8>) {
        let values = values.span
        for (index, component) in frame.components.enumerated() {
            let plane = layout.planes[index]
            guard !isNeighbor || plane.upsampling.needsNextRow else { continue }
            let factors = JPEGBlockRows(factors.span, at: 64 * index)
            for row in 0..<component.vertical {
                let y = band * component.vertical + row
                var start = 64 * (component.firstBlock + y * component.storedBlocksAcross)
                var position = plane.start(ofBand: band) + row * plane.blockSize * plane.stride
                for _ in 0..<component.storedBlocksAcross {
                    let rows = JPEGBlockRows(values, at: start)
                    JPEGInverseDCT.write(
                        rows.multiplied(by: factors),
                        last: rows.isUpperLeft ? 9 : 63,
                        size: plane.blockSize,
                        to: &samples,
                        at: position,
                        stride: plane.stride
                    )
                    start += 64
                    position += plane.blockSize
                }
            }
        }
    }
}
