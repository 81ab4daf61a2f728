import InwardImages

/// An encoder for PNG.
struct PNGEncoder {
    private static let longestData = 1 << 20

    private let image: Image
    private let form: PNGForm
    private var output = PNGChunkReader.signature

    init(_ image: Image) {
        self.image = image
        form = PNGForm(image)
    }

    /// Returns the encoded file.
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

    /// Returns the rows, each after its filter type.
    private func filteredRows() throws(ImageCodecError) -> [UInt8] {
        let size = image.size
        let count = form.rowCount(size.width)
        let packer = PNGRowPacker(form)
        let filter = PNGRowFilter(rowCount: count, distance: form.colorType.samples)
        // A row and the one above, which take turns, each between zeros.
        let stride = PNGRowFilter.padding + count + PNGRowPacker.slack
        var (row, above) = (PNGRowFilter.padding, stride + PNGRowFilter.padding)
        var packed = [UInt8](repeating: 0, count: 2 * stride)
        var packedRows = packed.mutableSpan
        var rows = [UInt8](repeating: 0, count: (count + 1) * size.height)
        var output = rows.mutableSpan
        for index in 0..<size.height {
            if index % 64 == 0 { try ImageCodecError.checkCancellation() }
            packer.pack(
                image.bytes.span,
                at: index * size.width * Image.bytesPerPixel,
                columns: size.width,
                to: &packedRows,
                at: row
            )
            let position = index * (count + 1)
            if case .palette = form {
                // Do not filter palette indices: similar colors do not have similar indices (section 12.7).
                output[position] = PNGFilter.none.rawValue
                for byte in 0..<count { output[position + 1 + byte] = packedRows[row + byte] }
            } else {
                filter.filter(packedRows.span, row, above: above, to: &output, at: position)
                swap(&row, &above)
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

    /// Returns the four bytes of an integer, the most significant first.
    private static func bytes(of number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// A lossless pixel format for an image.
enum PNGForm {
    case gray
    case grayAlpha
    case color
    case colorAlpha
    /// Palette indices, in the order of the colors.
    case palette([PNGColor])

    private static let maximumColors = 256

    /// Chooses the format that needs the fewest bytes before compression.
    init(_ image: Image) {
        let pixels = image.bytes.span
        var isGray = true
        var isOpaque = true
        var colors: [PNGColor] = []
        var seen: Set<UInt32> = []
        var last: UInt32?
        var index = 0
        // After too many colors, only the alphas matter, unless all pixels are gray.
        while index < pixels.count, isGray || colors.count <= Self.maximumColors {
            let color = PNGColor(rawValue: pixels.quad(at: index))
            index &+= Image.bytesPerPixel
            guard color.rawValue != last else { continue }
            last = color.rawValue
            isGray = isGray && color.red == color.green && color.red == color.blue
            isOpaque = isOpaque && color.alpha == 255
            if colors.count <= Self.maximumColors, seen.insert(color.rawValue).inserted { colors.append(color) }
        }
        isOpaque = isOpaque && Self.isOpaque(pixels, from: index)
        let direct: PNGForm = isGray ? (isOpaque ? .gray : .grayAlpha) : (isOpaque ? .color : .colorAlpha)
        // Transparent colors come first, because the transparency chunk lists only the first colors.
        let palette = PNGForm.palette(colors.filter { $0.alpha < 255 } + colors.filter { $0.alpha == 255 })
        let paletteCount = palette.rowCount(image.size.width) * image.size.height + 4 * colors.count
        let isSmaller = paletteCount < direct.rowCount(image.size.width) * image.size.height
        self = colors.count <= Self.maximumColors && isSmaller ? palette : direct
    }

    private static func isOpaque(_ pixels: Span<UInt8>, from start: Int) -> Bool {
        var index = start
        var common = SIMD8<UInt32>(repeating: .max)
        while index &+ 32 <= pixels.count {
            common &= pixels.eightPixels(at: index)
            index &+= 32
        }
        var alphas = (0..<8).reduce(.max) { $0 & common[$1] }
        while index < pixels.count {
            alphas &= pixels.quad(at: index)
            index &+= Image.bytesPerPixel
        }
        return alphas >= 0xFF00_0000
    }

    var colorType: PNGColorType {
        switch self {
        case .gray: .gray
        case .grayAlpha: .grayAlpha
        case .color: .color
        case .colorAlpha: .colorAlpha
        case .palette: .palette
        }
    }

    /// The number of bits in a sample.
    var bitDepth: Int {
        guard case .palette(let colors) = self else { return 8 }
        return switch colors.count {
        case ...2: 1
        case ...4: 2
        case ...16: 4
        default: 8
        }
    }

    /// Returns the size of a row's pixels in bytes.
    func rowCount(_ columns: Int) -> Int { (columns * bitDepth * colorType.samples + 7) / 8 }
}

/// A converter from the pixels of a row to a PNG format.
struct PNGRowPacker {
    /// The number of bytes after a row that packing may change.
    static let slack = 1

    private let form: PNGForm
    /// The palette index of each color.
    private let numbers: [UInt32: UInt8]

    init(_ form: PNGForm) {
        self.form = form
        guard case .palette(let colors) = form else {
            numbers = [:]
            return
        }
        numbers = Dictionary(
            colors.enumerated().map { ($1.rawValue, UInt8(truncatingIfNeeded: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Writes a row.
    ///
    /// - Parameters:
    ///   - pixels: The pixels of the image.
    ///   - start: The offset of the row's first pixel.
    ///   - columns: The number of pixels in the row.
    ///   - rows: The destination, in which ``slack`` more bytes must follow the row.
    ///   - position: The offset in the destination.
    func pack(
        _ pixels: Span<UInt8>,
        at start: Int,
        columns: Int,
        to rows: inout MutableSpan<UInt8>,
        at position: Int
    ) {
        switch form {
        case .palette:
            packNumbers(pixels, at: start, columns: columns, to: &rows, at: position)
        case .gray:
            for column in 0..<columns { rows[position &+ column] = pixels[start &+ 4 &* column] }
        case .grayAlpha:
            for column in 0..<columns {
                rows[position &+ 2 &* column] = pixels[start &+ 4 &* column]
                rows[position &+ 2 &* column &+ 1] = pixels[start &+ 4 &* column &+ 3]
            }
        case .color:
            // The next pixel replaces the alpha of this one.
            for column in 0..<columns {
                rows.store(pixels.quad(at: start &+ 4 &* column), at: position &+ 3 &* column)
            }
        case .colorAlpha:
            for column in 0..<columns {
                rows.store(pixels.quad(at: start &+ 4 &* column), at: position &+ 4 &* column)
            }
        }
    }

    private func packNumbers(
        _ pixels: Span<UInt8>,
        at start: Int,
        columns: Int,
        to rows: inout MutableSpan<UInt8>,
        at position: Int
    ) {
        let depth = form.bitDepth
        for byte in 0..<form.rowCount(columns) { rows[position &+ byte] = 0 }
        var last: (color: UInt32, number: UInt8)?
        for column in 0..<columns {
            let color = pixels.quad(at: start &+ column &* Image.bytesPerPixel)
            let number = last?.color == color ? last?.number ?? 0 : numbers[color] ?? 0
            last = (color, number)
            let bit = column &* depth
            rows[position &+ bit &>> 3] |= number &<< UInt8(truncatingIfNeeded: 8 &- depth &- bit & 7)
        }
    }
}
