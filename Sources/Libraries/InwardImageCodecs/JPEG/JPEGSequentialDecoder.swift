import InwardImages

/// A decoder for sequential images with a single interleaved scan. It decodes one row of MCUs at a time, and converts it to
/// pixels before it reads the next one.
struct JPEGSequentialDecoder {
    /// A block of each MCU.
    private struct Block {
        let part: JPEGScan.Part
        /// The offset of its dequantization factors.
        let scale: Int
        /// The side length in samples.
        let size: Int
        /// The offset of its first sample in the first MCU.
        let start: Int
        /// The distance to the next MCU.
        let step: Int
        /// The distance to the next row.
        let stride: Int
        /// The offset added for odd rows of MCUs.
        let slot: Int
    }

    private let frame: JPEGFrame
    private let layout: JPEGLayout
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
        self.frame = frame
        self.layout = layout
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
                            size: plane.blockSize,
                            start: plane.start + (row * plane.stride + column) * plane.blockSize,
                            step: component.horizontal * plane.blockSize,
                            stride: plane.stride,
                            slot: plane.storedRows > plane.bandRows ? plane.bandRows * plane.stride : 0
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

    /// Decodes the image into pixels.
    ///
    /// - Parameters:
    ///   - data: The bytes of the file.
    ///   - allowsTruncation: Whether missing blocks become gray instead of causing an error.
    ///   - model: The color model of the components.
    ///   - pixels: Receives the pixels.
    /// - Returns: The position of the scan's end.
    /// - Throws: An error if the scan is invalid or truncated, or if the task is cancelled.
    func decode(
        _ data: Span<UInt8>,
        allowsTruncation: Bool,
        _ model: JPEGColorModel,
        to pixels: inout MutableSpan<UInt8>
    ) throws(ImageCodecError) -> Int {
        var storage = [UInt8](repeating: 0, count: layout.sampleCount)
        var samples = storage.mutableSpan
        var coefficientStorage = [Int16](repeating: 0, count: 64)
        var coefficients = coefficientStorage.mutableSpan
        var writer = JPEGRowWriter(layout, model)
        var reader = start
        var hasEnded = false
        for row in 0..<frame.mcusDown {
            try ImageCodecError.checkCancellation()
            if hasEnded {
                fill(row, from: 0, &samples)
            } else {
                var next = 0
                do throws(ImageCodecError) {
                    try decode(row, &next, &reader, data, &coefficients, to: &samples)
                } catch {
                    guard allowsTruncation, error.reason == .truncated(.jpeg) else { throw error }
                    hasEnded = true
                    fill(row, from: next, &samples)
                }
            }
            writer.write(afterBand: row, isLast: row == frame.mcusDown - 1, &samples, to: &pixels)
        }
        return reader.bits.position
    }

    /// Decodes a row of MCUs.
    private func decode(
        _ row: Int,
        _ next: inout Int,
        _ position: inout JPEGScanReader,
        _ data: Span<UInt8>,
        _ coefficients: inout MutableSpan<Int16>,
        to samples: inout MutableSpan<UInt8>
    ) throws(ImageCodecError) {
        let blocks = blocks.span
        let entries = entries.span
        let scale = scale.span
        var reader = position
        defer { position = reader }
        while next < frame.mcusAcross {
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
                    at: 0
                )
                guard last != JPEGBlockDecoder.failure, !reader.bits.isOverdrawn else { throw reader.failure(data) }
                let position = block.start &+ row & 1 &* block.slot &+ next &* block.step
                if last == 0 {
                    let mean = coefficients[0]
                    JPEGInverseDCT.fill(mean, size: block.size, &samples, at: position, stride: block.stride)
                } else {
                    JPEGInverseDCT.write(
                        JPEGBlockRows(coefficients.span, at: 0),
                        last: last,
                        size: block.size,
                        to: &samples,
                        at: position,
                        stride: block.stride
                    )
                    Self.clear(&coefficients)
                }
            }
            next &+= 1
        }
    }

    /// Fills the remaining MCUs of a row with gray.
    private func fill(_ row: Int, from first: Int, _ samples: inout MutableSpan<UInt8>) {
        for mcu in first..<frame.mcusAcross {
            for block in blocks {
                let position = block.start + row % 2 * block.slot + mcu * block.step
                JPEGInverseDCT.fill(0, size: block.size, &samples, at: position, stride: block.stride)
            }
        }
    }

    @inline(never)
    private static func clear(_ coefficients: inout MutableSpan<Int16>) {
        for row in 0..<8 { coefficients.store(SIMD8(repeating: 0), at: 8 &* row) }
    }
}
