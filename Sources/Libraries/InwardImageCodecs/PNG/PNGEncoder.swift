import InwardImages

/// Makes the bytes of a PNG of a picture.
struct PNGEncoder {
    private static let longestData = 1 << 20

    private let image: Image
    private let form: PNGForm
    private var output = PNGChunkReader.signature

    init(_ image: Image) {
        self.image = image
        form = PNGForm(image)
    }

    /// Encodes it.
    func bytes() throws(ImageCodecError) -> [UInt8] {
        var encoder = self
        return try encoder.encoded()
    }

    private mutating func encoded() throws(ImageCodecError) -> [UInt8] {
        let size = image.size
        guard size.width <= Int32.max, size.height <= Int32.max else {
            throw ImageCodecError(.unencodable(.png), "is too large for PNG")
        }
        let depth = UInt8(truncatingIfNeeded: form.bitDepth)
        append(
            .header,
            Self.bytes(of: size.width) + Self.bytes(of: size.height) + [depth, form.colorType.rawValue, 0, 0, 0]
        )
        if case .palette(let colors) = form {
            append(.palette, colors.flatMap { [$0.red, $0.green, $0.blue] })
            let alphas = colors.prefix { $0.alpha < 255 }.map(\.alpha)
            if !alphas.isEmpty { append(.transparency, alphas) }
        }
        if image.orientation != .up { append(.exif, image.orientation.exif) }
        let rows = try filteredRows()
        let data = try Deflater.compressed(rows.span)
        var start = 0
        while start < data.count {
            let end = min(data.count, start + Self.longestData)
            append(.data, data[start..<end])
            start = end
        }
        append(.end, [])
        return output
    }

    /// The rows, each behind the number of its filter.
    private func filteredRows() throws(ImageCodecError) -> [UInt8] {
        let size = image.size
        let count = form.rowCount(size.width)
        let packer = PNGRowPacker(form)
        var row = [UInt8](repeating: 0, count: count)
        var filter = PNGRowFilter(rowCount: count, distance: form.colorType.samples)
        var rows: [UInt8] = []
        rows.reserveCapacity((count + 1) * size.height)
        for index in 0..<size.height {
            if index % 64 == 0 { try ImageCodecError.checkCancellation() }
            var span = row.mutableSpan
            packer.pack(
                image.bytes.span,
                at: index * size.width * Image.bytesPerPixel,
                columns: size.width,
                to: &span
            )
            if case .palette = form {
                // The numbers of colours are not near each other where the colours are (section 12.7).
                rows.append(PNGFilter.none.rawValue)
                rows += row
            } else {
                filter.append(row, to: &rows)
            }
        }
        return rows
    }

    private mutating func append(_ type: PNGChunkType, _ data: some Collection<UInt8>) {
        output += Self.bytes(of: data.count)
        let start = output.count
        output += Self.bytes(of: Int(type.rawValue))
        output += data
        output += Self.bytes(of: Int(CRC32.checksum(of: output.span.extracting(start..<output.count))))
    }

    /// The four bytes of a number, the highest first.
    private static func bytes(of number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
