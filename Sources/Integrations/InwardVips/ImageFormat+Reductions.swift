#if Vips
import InwardImages

extension ImageFormat {
    /// What the sides of a picture can be divided by while it is decoded.
    func reductions(of size: ImageSize) -> Set<Int> {
        switch self {
        // libvips rounds its sides down, and ends the process if nothing is left of one.
        case .jpeg: Set([2, 4, 8]).filter { min(size.width, size.height) >= $0 }
        // libvips rounds its sides to the nearest number, and not up.
        case .webP: Set([2, 4, 8]).filter { size.width % $0 == 0 && size.height % $0 == 0 }
        default: []
        }
    }
}
#endif
