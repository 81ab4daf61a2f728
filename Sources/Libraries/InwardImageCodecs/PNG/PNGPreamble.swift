import InwardImages

/// The part of a PNG before its image data.
struct PNGPreamble {
    let header: PNGHeader
    /// The palette.
    let palette: [PNGColor]
    let transparency: PNGTransparency?
    let orientation: Orientation
    /// The first data chunk.
    let firstData: PNGChunk
    /// The chunks after the first data chunk.
    let chunks: PNGChunkReader

    /// Reads all chunks up to the first data chunk.
    init(_ bytes: [UInt8], allowsTruncation: Bool = false) throws(ImageCodecError) {
        var chunks = try PNGChunkReader(bytes, allowsTruncation: allowsTruncation)
        let header = try PNGHeader(try chunks.next(), of: bytes.span)
        var palette: [PNGColor] = []
        var transparency: PNGTransparency?
        var orientation = Orientation.up
        var seen: Set<PNGChunkType> = []
        var chunk = try chunks.next()
        while chunk.type != .data {
            switch chunk.type {
            case .palette, .transparency:
                guard seen.insert(chunk.type).inserted else { throw .damagedPNG("has a second \(chunk.place)") }
                if chunk.type == .palette {
                    guard !seen.contains(.transparency) else { throw .damagedPNG("has tRNS before \(chunk.place)") }
                    palette = try Self.palette(chunk, of: bytes.span, header)
                } else {
                    transparency = try Self.transparency(chunk, of: bytes.span, header, &palette)
                }
            case .exif:
                orientation = Orientation(exif: bytes.span.extracting(chunk.data)) ?? orientation
            default:
                try Self.check(chunk)
            }
            chunk = try chunks.next()
        }
        guard header.colorType != .palette || !palette.isEmpty else {
            throw .damagedPNG("has no PLTE before \(chunk.place)")
        }
        self.header = header
        self.palette = palette
        self.transparency = transparency
        self.orientation = orientation
        self.chunks = chunks
        firstData = chunk
    }

    /// The header as the codec returns it.
    var imageHeader: ImageHeader {
        ImageHeader(format: .png, size: header.size, orientation: orientation, workingBytes: header.workingBytes)
    }

    /// Rejects a chunk that is misplaced, or that is critical and unknown.
    static func check(_ chunk: PNGChunk) throws(ImageCodecError) {
        switch chunk.type {
        case .header, .palette, .transparency, .data, .end:
            throw .damagedPNG("has \(chunk.place), where it is not allowed")
        default:
            guard !chunk.type.isCritical else {
                throw ImageCodecError(.unsupported(.png), "requires \(chunk.place), which PNGCodec does not support")
            }
        }
    }

    private static func palette(
        _ chunk: PNGChunk,
        of bytes: Span<UInt8>,
        _ header: PNGHeader
    ) throws(ImageCodecError) -> [PNGColor] {
        guard header.colorType != .gray, header.colorType != .grayAlpha else {
            throw .damagedPNG("is gray, but has \(chunk.place)")
        }
        guard !chunk.data.isEmpty, chunk.data.count % 3 == 0, chunk.data.count <= 3 * 256 else {
            throw .damagedPNG("has \(chunk.data.count) bytes in \(chunk.place), which is not a valid palette size")
        }
        var palette: [PNGColor] = []
        for index in stride(from: chunk.data.lowerBound, to: chunk.data.upperBound, by: 3) {
            palette.append(PNGColor(bytes[index], bytes[index + 1], bytes[index + 2]))
        }
        return palette
    }

    /// Reads a transparency chunk. For an image with a palette, it sets the alpha of the colors and returns `nil`.
    private static func transparency(
        _ chunk: PNGChunk,
        of bytes: Span<UInt8>,
        _ header: PNGHeader,
        _ palette: inout [PNGColor]
    ) throws(ImageCodecError) -> PNGTransparency? {
        let start = chunk.data.lowerBound
        switch header.colorType {
        case .gray where chunk.data.count == 2:
            return .gray(bytes.bigEndian16(at: start))
        case .color where chunk.data.count == 6:
            return .color(
                red: bytes.bigEndian16(at: start),
                green: bytes.bigEndian16(at: start + 2),
                blue: bytes.bigEndian16(at: start + 4)
            )
        case .palette where !palette.isEmpty && chunk.data.count <= palette.count:
            for index in 0..<chunk.data.count { palette[index].alpha = bytes[start + index] }
            return nil
        default:
            throw .damagedPNG("has \(chunk.data.count) bytes in \(chunk.place), which does not fit its color type")
        }
    }
}

/// The transparent color of a PNG without an alpha channel (ISO/IEC 15948, section 11.3.1.1).
enum PNGTransparency {
    /// Pixels of this gray are transparent.
    case gray(Int)
    /// Pixels of this color are transparent.
    case color(red: Int, green: Int, blue: Int)
}

/// The four bytes of a pixel as an integer, with red in the lowest byte.
struct PNGColor: RawRepresentable, Hashable {
    var rawValue: UInt32

    @inline(__always)
    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inline(__always)
    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) {
        rawValue = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
    }

    var red: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
    var green: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    var blue: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 16) }
    var alpha: UInt8 {
        get { UInt8(truncatingIfNeeded: rawValue >> 24) }
        set { rawValue = rawValue & 0x00FF_FFFF | UInt32(newValue) << 24 }
    }
}

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
    /// The distance in bytes between adjacent pixels, or 1 if they share a byte, as filters define it.
    var filterDistance: Int { max(1, bitsPerPixel / 8) }

    /// Reads the header chunk.
    init(_ chunk: PNGChunk, of bytes: Span<UInt8>) throws(ImageCodecError) {
        guard chunk.type == .header else { throw .damagedPNG("begins with \(chunk.type) instead of IHDR") }
        guard chunk.data.count == 13 else { throw .damagedPNG("has \(chunk.data.count) bytes in IHDR instead of 13") }
        let start = chunk.data.lowerBound
        let (width, height) = (bytes.bigEndian32(at: start), bytes.bigEndian32(at: start + 4))
        guard width <= 0x7FFF_FFFF, height <= 0x7FFF_FFFF, let size = ImageSize(width: width, height: height) else {
            throw .damagedPNG("has the invalid size \(width)×\(height)")
        }
        guard let colorType = PNGColorType(rawValue: bytes[start + 9]),
            colorType.bitDepths.contains(bytes[start + 8])
        else { throw .damagedPNG("has the invalid color type \(bytes[start + 9]) with \(bytes[start + 8]) bits") }
        guard bytes[start + 10] == 0 else {
            throw .damagedPNG("has the unknown compression method \(bytes[start + 10])")
        }
        guard bytes[start + 11] == 0 else { throw .damagedPNG("has the unknown filter method \(bytes[start + 11])") }
        guard bytes[start + 12] <= 1 else { throw .damagedPNG("has the unknown interlace method \(bytes[start + 12])") }
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
            guard !isTooMuch, !isTooMany else { throw .damagedPNG("has the invalid size \(width)×\(height)") }
            dataCount = sum
        }
        self.dataCount = dataCount
    }

    /// Returns the size of a row's pixels in bytes, without the filter type.
    func rowCount(_ columns: Int) -> Int { Self.rowCount(columns, bitsPerPixel) }

    private static func rowCount(_ columns: Int, _ bitsPerPixel: Int) -> Int { (columns * bitsPerPixel + 7) / 8 }

    /// The number of bytes that decoding needs in addition to the image: the decompression window, two undecoded rows, and the
    /// tables of codes and colors.
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
