import InwardImages

/// An image whose headers have been read. It makes the pixels, in the caller's task or in child tasks.
struct JPEGPicture {
    /// The source of the samples.
    enum Content {
        /// A sequential scan with all components, which is read row by row.
        case scan(JPEGSequentialDecoder, allowsTruncation: Bool)
        /// The coefficients of all scans.
        case coefficients(JPEGCoefficients)
    }

    private let layout: JPEGLayout
    private let model: JPEGColorModel
    private let orientation: Orientation
    private let content: Content
    private let rowCount: Int
    private let strips: JPEGStrips

    init(
        _ frame: JPEGFrame,
        _ layout: JPEGLayout,
        _ model: JPEGColorModel,
        _ orientation: Orientation,
        _ content: Content,
        _ strips: JPEGStrips
    ) {
        self.layout = layout
        self.model = model
        self.orientation = orientation
        self.content = content
        rowCount = frame.mcusDown
        self.strips = strips
    }

    /// Returns the image, made in this task.
    func image(in data: Span<UInt8>) throws(ImageCodecError) -> Image {
        try Image(size: layout.size, orientation: orientation) { pixels throws(ImageCodecError) in
            switch content {
            case .coefficients(let coefficients):
                try write(0..<rowCount, to: &pixels) { row, samples throws(ImageCodecError) in
                    try ImageCodecError.checkCancellation()
                    coefficients.transform(row, layout, to: &samples)
                }
            case .scan(let decoder, let allowsTruncation):
                var reader = decoder.reader(allowsTruncation: allowsTruncation)
                var coefficients = decoder.emptyRow
                try write(0..<rowCount, to: &pixels) { row, samples throws(ImageCodecError) in
                    coefficients.clear()
                    try decoder.read(&coefficients, at: &reader, in: data)
                    decoder.transform(coefficients, row, to: &samples)
                }
                if !allowsTruncation { try JPEGMarkerReader(position: reader.position).passToEnd(of: data) }
            }
        }
    }

    /// Returns the image. While this task reads a large image, child tasks make the pixels.
    func concurrentImage(in bytes: [UInt8]) async throws(ImageCodecError) -> Image {
        try await strips.areWorthwhile ? imageOfStrips(in: bytes) : image(in: bytes.span)
    }

    /// Returns the image, whose strips child tasks make, even if it is small.
    func imageOfStrips(in bytes: [UInt8]) async throws(ImageCodecError) -> Image {
        let pixels: [UInt8]
        switch content {
        case .coefficients(let coefficients):
            pixels = try await strips.pixels(layout.size.byteCount) { rows in
                { () throws(ImageCodecError) in
                    try self.pixels(of: rows) { row, isNeighbor, samples in
                        coefficients.transform(row, layout, isNeighbor: isNeighbor, to: &samples)
                    }
                }
            }
        case .scan(let decoder, let allowsTruncation):
            var reader = decoder.reader(allowsTruncation: allowsTruncation)
            var read = RowsInMemory()
            pixels = try await strips.pixels(layout.size.byteCount) { rows throws(ImageCodecError) in
                let needed = neighborhood(of: rows)
                read.drop(before: needed.lowerBound)
                while read.end < needed.upperBound {
                    var row = decoder.emptyRow
                    try decoder.read(&row, at: &reader, in: bytes.span)
                    read.append(row)
                }
                return { [read] () throws(ImageCodecError) in
                    try self.pixels(of: rows) { row, isNeighbor, samples in
                        decoder.transform(read[row], row, isNeighbor: isNeighbor, to: &samples)
                    }
                }
            }
            if !allowsTruncation { try JPEGMarkerReader(position: reader.position).passToEnd(of: bytes.span) }
        }
        guard let image = Image(size: layout.size, bytes: pixels, orientation: orientation) else {
            throw .damagedJPEG("has \(pixels.count) bytes of pixels instead of \(layout.size.byteCount)")
        }
        return image
    }

    /// Returns the pixels of rows of MCUs.
    ///
    /// - Throws: An error if the task is cancelled, which is checked at each row.
    private func pixels(
        of rows: Range<Int>,
        _ transform: (_ row: Int, _ isNeighbor: Bool, inout MutableSpan<UInt8>) -> Void
    ) throws(ImageCodecError) -> [UInt8] {
        let first = rows.lowerBound * layout.bandRows
        let end = min(rows.upperBound * layout.bandRows, layout.size.height)
        var bytes = [UInt8](repeating: 0, count: (end - first) * layout.size.width * Image.bytesPerPixel)
        var pixels = bytes.mutableSpan
        try write(rows, to: &pixels) { row, samples throws(ImageCodecError) in
            try ImageCodecError.checkCancellation()
            transform(row, !rows.contains(row), &samples)
        }
        return bytes
    }

    /// Writes the pixels of rows of MCUs, whose coefficients a closure transforms to samples.
    private func write(
        _ rows: Range<Int>,
        to pixels: inout MutableSpan<UInt8>,
        _ transform: (Int, inout MutableSpan<UInt8>) throws(ImageCodecError) -> Void
    ) throws(ImageCodecError) {
        var storage = [UInt8](repeating: 0, count: layout.sampleCount)
        var samples = storage.mutableSpan
        var writer = JPEGRowWriter(layout, model, from: rows.lowerBound * layout.bandRows)
        for row in neighborhood(of: rows) {
            try transform(row, &samples)
            writer.write(afterBand: row, isLast: row == rowCount - 1, &samples, to: &pixels)
        }
    }

    /// Returns rows of MCUs and their neighbors, if upsampling interpolates between rows.
    private func neighborhood(of rows: Range<Int>) -> Range<Int> {
        guard layout.delayedRows > 0 else { return rows }
        return max(0, rows.lowerBound - 1)..<min(rowCount, rows.upperBound + 1)
    }
}

/// The rows of MCUs that have been read and are still needed.
private struct RowsInMemory {
    private var rows: [JPEGSequentialDecoder.Row] = []
    private var start = 0

    var end: Int { start + rows.count }

    subscript(row: Int) -> JPEGSequentialDecoder.Row { rows[row - start] }

    mutating func append(_ row: JPEGSequentialDecoder.Row) { rows.append(row) }

    mutating func drop(before row: Int) {
        rows.removeFirst(max(0, row - start))
        start = row
    }
}
