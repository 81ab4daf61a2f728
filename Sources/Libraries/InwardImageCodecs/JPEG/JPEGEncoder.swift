import InwardImages

/// Writes a picture as a baseline JPEG file with the Huffman tables of T.81 annex K, in one scan.
struct JPEGEncoder {
    private let size: ImageSize
    private let orientation: Orientation
    private let isGray: Bool
    /// How many pixels a sample of a colour stands for, in the two directions.
    private let horizontal: Int
    private let vertical: Int
    private let brightness: JPEGQuantizer
    private let color: JPEGQuantizer

    init(_ image: Image, _ encoding: ImageEncoding) {
        size = image.size
        orientation = image.orientation
        isGray = Self.isGray(image.bytes.span)
        horizontal = isGray || encoding.subsampling == .none ? 1 : 2
        vertical = !isGray && encoding.subsampling == .quarter ? 2 : 1
        brightness = JPEGQuantizer(0, quality: encoding.quality)
        color = JPEGQuantizer(1, quality: encoding.quality)
    }

    /// Whether the colour of all pixels is grey.
    private static func isGray(_ pixels: Span<UInt8>) -> Bool {
        var index = 0
        while index < pixels.count {
            guard pixels[index] == pixels[index + 1], pixels[index] == pixels[index + 2] else { return false }
            index += 4
        }
        return true
    }

    /// The file.
    ///
    /// - Throws: that the task was cancelled, which it looks for at each row of MCUs.
    func encode(_ pixels: Span<UInt8>) throws(ImageCodecError) -> [UInt8] {
        let rows = JPEGSampleRows(size, isGray: isGray, horizontal: horizontal, vertical: vertical)
        var storage = [UInt8](repeating: 0, count: rows.sampleCount)
        var samples = storage.mutableSpan
        var coefficientStorage = [Int16](repeating: 0, count: 64)
        var coefficients = coefficientStorage.mutableSpan
        var writer = JPEGBitWriter(header())
        writer.bytes.reserveCapacity(1024 + size.pixelCount / 4)
        var blocks = JPEGBlockEncoder()
        for band in 0..<size.divided(by: 8 * vertical).height {
            try ImageCodecError.checkCancellation()
            rows.fill(&samples, band: band, from: pixels)
            for mcu in 0..<size.divided(by: 8 * horizontal).width {
                for row in 0..<vertical {
                    for column in 0..<horizontal {
                        let position = 8 * row * rows.stride + 8 * (mcu * horizontal + column)
                        blocks.encode(samples.span, position, rows.stride, 0, brightness, &coefficients, to: &writer)
                    }
                }
                guard !isGray else { continue }
                blocks.encode(samples.span, rows.blue + 8 * mcu, rows.stride, 1, color, &coefficients, to: &writer)
                blocks.encode(samples.span, rows.red + 8 * mcu, rows.stride, 2, color, &coefficients, to: &writer)
            }
        }
        writer.finish()
        return writer.bytes + [0xFF, JPEGMarker.endOfImage]
    }

    /// All that stands before the entropy-coded data.
    private func header() -> [UInt8] {
        var bytes: [UInt8] = [0xFF, JPEGMarker.startOfImage]
        // Version 1.01, one pixel as wide as high, no thumbnail.
        bytes += Self.segment(JPEGMarker.jfif, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        if orientation != .up { bytes += Self.segment(JPEGMarker.exif, Array("Exif\0\0".utf8) + orientation.exif) }
        let tables = isGray ? [brightness] : [brightness, color]
        for (number, quantizer) in tables.enumerated() {
            let table = JPEGZigzag.order.map { quantizer.table[Int($0)] }
            bytes += Self.segment(JPEGMarker.quantizationTables, [UInt8(number)] + table)
        }
        let (height, width) = (UInt16(size.height), UInt16(size.width))
        var frame: [UInt8] = [8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        frame += isGray ? [1, 1, 0x11, 0] : [3, 1, UInt8(horizontal << 4 | vertical), 0, 2, 0x11, 1, 3, 0x11, 1]
        bytes += Self.segment(JPEGMarker.baselineFrame, frame)
        for number in tables.indices {
            for isAC in [false, true] {
                let table = JPEGStandardTables.huffman(ac: isAC, number)
                let name = UInt8(isAC ? 0x10 : 0) | UInt8(number)
                bytes += Self.segment(JPEGMarker.huffmanTables, [name] + table.counts + table.values)
            }
        }
        let scan: [UInt8] = isGray ? [1, 1, 0, 0, 63, 0] : [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]
        return bytes + Self.segment(JPEGMarker.startOfScan, scan)
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}
