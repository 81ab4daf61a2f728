import InwardImages

/// How the pixels of a picture are written, so that nothing of them is lost.
enum PNGForm {
    case gray
    case grayAlpha
    case color
    case colorAlpha
    /// By the number of a colour, in the order of the colours.
    case palette([PNGColor])

    private static let mostColors = 256

    /// The form that takes the fewest bytes for a picture before they are compressed.
    init(_ image: Image) {
        let pixels = image.bytes.span
        var isGray = true
        var isOpaque = true
        var colors: [PNGColor] = []
        var seen: Set<UInt32> = []
        var last: UInt32?
        for index in stride(from: 0, to: pixels.count, by: Image.bytesPerPixel) {
            let color = PNGColor(rawValue: pixels.quad(at: index))
            guard color.rawValue != last else { continue }
            last = color.rawValue
            isGray = isGray && color.red == color.green && color.red == color.blue
            isOpaque = isOpaque && color.alpha == 255
            if colors.count <= Self.mostColors, seen.insert(color.rawValue).inserted { colors.append(color) }
            if colors.count > Self.mostColors, !isGray, !isOpaque { break }
        }
        let direct: PNGForm = isGray ? (isOpaque ? .gray : .grayAlpha) : (isOpaque ? .color : .colorAlpha)
        // Those that let something through are first, because only they have a place among the transparent ones.
        let palette = PNGForm.palette(colors.filter { $0.alpha < 255 } + colors.filter { $0.alpha == 255 })
        let paletteCount = palette.rowCount(image.size.width) * image.size.height + 4 * colors.count
        let isSmaller = paletteCount < direct.rowCount(image.size.width) * image.size.height
        self = colors.count <= Self.mostColors && isSmaller ? palette : direct
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

    /// How many bits a number takes.
    var bitDepth: Int {
        guard case .palette(let colors) = self else { return 8 }
        return switch colors.count {
        case ...2: 1
        case ...4: 2
        case ...16: 4
        default: 8
        }
    }

    /// How many bytes the pixels of a row take.
    func rowCount(_ columns: Int) -> Int { (columns * bitDepth * colorType.samples + 7) / 8 }
}
