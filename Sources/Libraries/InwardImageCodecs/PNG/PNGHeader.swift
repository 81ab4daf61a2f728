import InwardImages

/// The header chunk of a PNG (ISO/IEC 15948, section 11.2.1).
struct PNGHeader {
    let size: ImageSize
    let bitDepth: Int
    let colorType: PNGColorType
    let passes: [PNGInterlacePass]
    /// The size in bytes of all rows with their filter types, before compression.
    let dataCount: Int

    var isInterlaced: Bool { passes.count > 1 }
    var bitsPerPixel: Int { bitDepth * colorType.samples }
    /// The distance between the bytes of adjacent pixels, as filters count it.
    var filterDistance: Int { max(1, bitsPerPixel / 8) }

    /// Reads the header chunk.
    init(_ chunk: PNGChunk, of bytes: Span<UInt8>) throws(ImageCodecError) {
        guard chunk.type == .header else { throw .damagedPNG("begins with \(chunk.type), and not with IHDR") }
        guard chunk.data.count == 13 else { throw .damagedPNG("has \(chunk.data.count) bytes in IHDR, and not 13") }
        let start = chunk.data.lowerBound
        let (width, height) = (bytes.bigEndian32(at: start), bytes.bigEndian32(at: start + 4))
        guard width <= 0x7FFF_FFFF, height <= 0x7FFF_FFFF, let size = ImageSize(width: width, height: height) else {
            throw .damagedPNG("has a size of \(width)×\(height)")
        }
        guard let colorType = PNGColorType(rawValue: bytes[start + 9]),
            colorType.bitDepths.contains(bytes[start + 8])
        else { throw .damagedPNG("has colour type \(bytes[start + 9]) with \(bytes[start + 8]) bits") }
        guard bytes[start + 10] == 0 else { throw .damagedPNG("has compression method \(bytes[start + 10])") }
        guard bytes[start + 11] == 0 else { throw .damagedPNG("has filter method \(bytes[start + 11])") }
        guard bytes[start + 12] <= 1 else { throw .damagedPNG("has interlace method \(bytes[start + 12])") }
        self.size = size
        self.colorType = colorType
        bitDepth = Int(bytes[start + 8])
        passes = bytes[start + 12] == 1 ? PNGInterlacePass.adam7 : PNGInterlacePass.whole
        var dataCount = 0
        for pass in passes {
            let rowCount = Self.rowCount(pass.columns(in: width), bitDepth * colorType.samples)
            guard rowCount > 0 else { continue }
            let (bytes, isTooMuch) = (rowCount + 1).multipliedReportingOverflow(by: pass.rows(in: height))
            let (sum, isTooMany) = dataCount.addingReportingOverflow(bytes)
            guard !isTooMuch, !isTooMany else { throw .damagedPNG("has a size of \(width)×\(height)") }
            dataCount = sum
        }
        self.dataCount = dataCount
    }

    /// Returns the size of a row's pixels in bytes, without the filter type.
    func rowCount(_ columns: Int) -> Int { Self.rowCount(columns, bitsPerPixel) }

    private static func rowCount(_ columns: Int, _ bitsPerPixel: Int) -> Int { (columns * bitsPerPixel + 7) / 8 }

    /// The number of bytes that decoding needs in addition to the image: the decompression window, two undecoded rows, and tables
    /// of codes and colours.
    var workingBytes: Int {
        let row = rowCount(size.width) + 1
        return Inflater.windowCount(count: dataCount, piece: row) + 2 * row + 131_072
    }
}

/// The meaning of a pixel's samples (ISO/IEC 15948, section 11.2.1).
enum PNGColorType: UInt8 {
    case gray = 0
    case color = 2
    case palette = 3
    case grayAlpha = 4
    case colorAlpha = 6

    /// The number of samples in a pixel.
    var samples: Int {
        switch self {
        case .gray, .palette: 1
        case .grayAlpha: 2
        case .color: 3
        case .colorAlpha: 4
        }
    }

    /// The permitted numbers of bits in a sample.
    var bitDepths: Set<UInt8> {
        switch self {
        case .gray: [1, 2, 4, 8, 16]
        case .palette: [1, 2, 4, 8]
        case .grayAlpha, .color, .colorAlpha: [8, 16]
        }
    }
}

/// One of the seven passes of an interlaced PNG (ISO/IEC 15948, section 8), or the only pass of another PNG.
struct PNGInterlacePass {
    let firstColumn: Int
    let firstRow: Int
    let columnStep: Int
    let rowStep: Int

    static let whole = [PNGInterlacePass(firstColumn: 0, firstRow: 0, columnStep: 1, rowStep: 1)]
    static let adam7 = [
        PNGInterlacePass(firstColumn: 0, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGInterlacePass(firstColumn: 4, firstRow: 0, columnStep: 8, rowStep: 8),
        PNGInterlacePass(firstColumn: 0, firstRow: 4, columnStep: 4, rowStep: 8),
        PNGInterlacePass(firstColumn: 2, firstRow: 0, columnStep: 4, rowStep: 4),
        PNGInterlacePass(firstColumn: 0, firstRow: 2, columnStep: 2, rowStep: 4),
        PNGInterlacePass(firstColumn: 1, firstRow: 0, columnStep: 2, rowStep: 2),
        PNGInterlacePass(firstColumn: 0, firstRow: 1, columnStep: 1, rowStep: 2),
    ]

    /// Returns the number of pixels in a row of the pass.
    func columns(in width: Int) -> Int { width > firstColumn ? (width - firstColumn - 1) / columnStep + 1 : 0 }

    /// Returns the number of rows in the pass.
    func rows(in height: Int) -> Int { height > firstRow ? (height - firstRow - 1) / rowStep + 1 : 0 }
}
