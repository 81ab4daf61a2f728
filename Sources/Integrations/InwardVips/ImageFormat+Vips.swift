#if Vips
import CVips
import InwardImages

extension ImageFormat {
    /// The form of this name; `nil` for what is none.
    init?(_ format: CVipsFormat) {
        switch format {
        case .JPEG: self = .jpeg
        case .PNG: self = .png
        case .webP: self = .webP
        case .GIF: self = .gif
        case .AVIF: self = .avif
        case .HEIF: self = .heif
        case .TIFF: self = .tiff
        case .unknown: return nil
        }
    }

    /// What the shim calls it; unknown if it does not do it.
    var vipsFormat: CVipsFormat {
        switch self {
        case .jpeg: .JPEG
        case .png: .PNG
        case .webP: .webP
        case .gif: .GIF
        case .avif: .AVIF
        case .heif: .HEIF
        case .tiff: .TIFF
        default: .unknown
        }
    }

    /// Whether a second is spent on a million pixels or more than that, in one piece that no cancellation ends.
    var isSlowlyCompressed: Bool { self == .avif || self == .heif }

    /// The longest side that is written: libheif writes longer ones, and reads none of them.
    var longestSide: Int { isSlowlyCompressed ? 32_768 : .max }
}
#endif
