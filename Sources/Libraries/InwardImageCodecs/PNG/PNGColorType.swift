/// What the numbers of a pixel mean (ISO/IEC 15948, section 11.2.1).
enum PNGColorType: UInt8 {
    case gray = 0
    case color = 2
    case palette = 3
    case grayAlpha = 4
    case colorAlpha = 6

    /// How many numbers a pixel has.
    var samples: Int {
        switch self {
        case .gray, .palette: 1
        case .grayAlpha: 2
        case .color: 3
        case .colorAlpha: 4
        }
    }

    /// How many bits a number may have.
    var bitDepths: Set<UInt8> {
        switch self {
        case .gray: [1, 2, 4, 8, 16]
        case .palette: [1, 2, 4, 8]
        case .grayAlpha, .color, .colorAlpha: [8, 16]
        }
    }
}
