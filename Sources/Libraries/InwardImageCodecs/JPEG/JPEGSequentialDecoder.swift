import InwardImages

/// A decoder for sequential images with a single interleaved scan. It reads the coefficients of one row of MCUs at a time, so
/// that a row can become pixels while the next one is read.
struct JPEGSequentialDecoder {
    /// A block of each MCU.
    private struct Block {
        let part: JPEGScan.Part
        /// The offset of its dequantization factors.
        let scale: Int
        /// The offset of its first sample from that of the row of MCUs.
        let start: Int
        /// The distance to the next MCU.
        let step: Int
        let plane: JPEGPlane
    }

    private let mcusAcross: Int
    private let blocks: [Block]
    private let scale: [UInt32]
    private let entries: [UInt32]
    private let start: JPEGScanReader

    init(
        _ frame: JPEGFrame,
        _ layout: JPEGLayout,
        _ scan: JPEGScan,
        _ tables: JPEGTables,
        at position: Int
    ) throws(ImageCodecError) {
        mcusAcross = frame.mcusAcross
        var blocks: [Block] = []
        var scale: [UInt32] = []
        for component in frame.components {
            let table = tables.quantization[component.quantization]
            guard !table.isEmpty else {
                throw .damagedJPEG("has no quantization table \(component.quantization)")
            }
            scale += zip(JPEGZigzag.order, table).map { UInt32($0) | UInt32($1) << 8 }
        }
        for part in scan.parts {
            let component = frame.components[part.component]
            let plane = layout.planes[part.component]
            for row in 0..<component.vertical {
                for column in 0..<component.horizontal {
                    blocks.append(
                        Block(
                            part: part,
                            scale: 64 * part.component,
                            start: (row * plane.stride + column) * plane.blockSize,
                            step: component.horizontal * plane.blockSize,
                            plane: plane
                        )
                    )
                }
            }
        }
        self.blocks = blocks
        self.scale = scale
        entries = tables.huffman.entries
        start = JPEGScanReader(at: position, scan: scan.number, interval: tables.restartInterval)
    }

    /// Returns the place at the start of the scan. If truncation is allowed, missing blocks become gray instead of causing an error.
    func reader(allowsTruncation: Bool) -> Reader {
        Reader(scan: start, allowsTruncation: allowsTruncation)
    }

    /// Coefficients of zero for a row of MCUs.
    var emptyRow: Row {
        let count = mcusAcross * blocks.count
        return Row(
            coefficients: [Int16](repeating: 0, count: 64 * count),
            lasts: [UInt8](repeating: 0, count: count)
        )
    }

    /// The coefficients of a row of MCUs.
    struct Row {
        /// 64 for each block, row by row and dequantized. The blocks are in the order of the scan.
        fileprivate var coefficients: [Int16]
        /// The index of each block's last coefficient that is not zero, in coding order.
        fileprivate var lasts: [UInt8]

        /// Sets all coefficients to zero.
        mutating func clear() {
            var coefficients = coefficients.mutableSpan
            coefficients.update(repeating: 0)
            var lasts = lasts.mutableSpan
            lasts.update(repeating: 0)
        }
    }

    /// The place in the scan, after a number of rows.
    struct Reader {
        fileprivate var scan: JPEGScanReader
        fileprivate let allowsTruncation: Bool
        fileprivate var hasEnded = false

        /// The position of the next byte.
        var position: Int { scan.bits.position }
    }

    /// Reads the next row of MCUs.
    ///
    /// - Parameters:
    ///   - row: Receives the coefficients. They must be zero, and stay zero where blocks are missing.
    ///   - reader: The place in the scan.
    ///   - data: The bytes of the file.
    /// - Throws: An error if the scan is invalid or truncated, or if the task is cancelled.
    func read(_ row: inout Row, at reader: inout Reader, in data: Span<UInt8>) throws(ImageCodecError) {
        try ImageCodecError.checkCancellation()
        guard !reader.hasEnded else { return }
        do throws(ImageCodecError) {
            try read(&row.coefficients, &row.lasts, &reader.scan, data)
        } catch {
            guard reader.allowsTruncation, error.reason == .truncated(.jpeg) else { throw error }
            reader.hasEnded = true
        }
    }

    private func read(
        _ coefficientArray: inout [Int16],
        _ lastArray: inout [UInt8],
        _ scan: inout JPEGScanReader,
        _ data: Span<UInt8>
    ) throws(ImageCodecError) {
        let blocks = blocks.span
        let entries = entries.span
        let scale = scale.span
        var coefficients = coefficientArray.mutableSpan
        var lasts = lastArray.mutableSpan
        // A copy, whose properties can stay in registers.
        var reader = scan
        defer { scan = reader }
        var place = 0
        while place < lasts.count {
            try reader.beginMCU(data)
            for index in 0..<blocks.count {
                let block = blocks[index]
                let last = JPEGBlockDecoder.decode(
                    &reader.bits,
                    data,
                    entries,
                    block.part,
                    scale,
                    block.scale,
                    &reader.predictions[block.part.component],
                    &coefficients,
                    at: 64 &* place
                )
                guard last != JPEGBlockDecoder.failure, !reader.bits.isOverdrawn else {
                    // The whole MCU counts as missing.
                    for block in place - index...place {
                        lasts[block] = 0
                        for coefficient in 64 * block..<64 * block + 64 { coefficients[coefficient] = 0 }
                    }
                    throw reader.failure(data)
                }
                lasts[place] = UInt8(truncatingIfNeeded: last)
                place &+= 1
            }
        }
    }

    /// Transforms the coefficients of a row of MCUs to samples.
    ///
    /// - Parameters:
    ///   - row: The coefficients.
    ///   - number: The number of the row.
    ///   - isNeighbor: Whether only the components are needed that upsampling interpolates in the next row.
    ///   - samples: Receives the samples.
    func transform(_ row: Row, _ number: Int, isNeighbor: Bool = false, to samples: inout MutableSpan<UInt8>) {
        let coefficients = row.coefficients.span
        let lasts = row.lasts.span
        for index in blocks.indices {
            let block = blocks[index]
            guard !isNeighbor || block.plane.upsampling.needsNextRow else { continue }
            let size = block.plane.blockSize
            let stride = block.plane.stride
            var position = block.plane.start(ofBand: number) + block.start
            var place = index
            while place < lasts.count {
                let last = Int(lasts[place])
                if last == 0 {
                    let mean = coefficients[64 &* place]
                    JPEGInverseDCT.fill(mean, size: size, &samples, at: position, stride: stride)
                } else {
                    JPEGInverseDCT.write(
                        JPEGBlockRows(coefficients, at: 64 &* place),
                        last: last,
                        size: size,
                        to: &samples,
                        at: position,
                        stride: stride
                    )
                }
                position &+= block.step
                place &+= blocks.count
            }
        }
    }
}
