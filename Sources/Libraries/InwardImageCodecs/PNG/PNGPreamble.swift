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
            throw .damagedPNG("has \(chunk.place), where it may not be")
        default:
            guard !chunk.type.isCritical else {
                throw ImageCodecError(.unsupported(.png), "needs \(chunk.place), which is not known")
            }
        }
    }

    private static func palette(
        _ chunk: PNGChunk,
        of bytes: Span<UInt8>,
        _ header: PNGHeader
    ) throws(ImageCodecError) -> [PNGColor] {
        guard header.colorType != .gray, header.colorType != .grayAlpha else {
            throw .damagedPNG("is grey, and has \(chunk.place)")
        }
        guard !chunk.data.isEmpty, chunk.data.count % 3 == 0, chunk.data.count <= 3 * 256 else {
            throw .damagedPNG("has \(chunk.data.count) bytes in \(chunk.place)")
        }
        var palette: [PNGColor] = []
        for index in stride(from: chunk.data.lowerBound, to: chunk.data.upperBound, by: 3) {
            palette.append(PNGColor(bytes[index], bytes[index + 1], bytes[index + 2]))
        }
        return palette
    }

    /// Reads a transparency chunk. For a palette, updates the colours instead.
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
            throw .damagedPNG("has \(chunk.data.count) bytes in \(chunk.place), where that may not be")
        }
    }
}

/// The transparent colour of a PNG without an alpha channel (ISO/IEC 15948, section 11.3.1.1).
enum PNGTransparency {
    /// Pixels of this grey are transparent.
    case gray(Int)
    /// Pixels of this colour are transparent.
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
