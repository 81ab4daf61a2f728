/// What the components of a picture mean.
enum JPEGColorModel {
    case gray
    case yCbCr
    case rgb
    /// Cyan, magenta, yellow and black, each 255 where there is no ink: as Adobe writes them, and as everybody takes them.
    case cmyk
    /// Such inks, the first three as YCbCr.
    case ycck

    /// Decides what the components of a frame mean, by what the file says of it elsewhere; as everybody does, for no standard
    /// tells.
    init(_ frame: JPEGFrame, _ application: JPEGApplicationData) {
        switch frame.components.count {
        case 1: self = .gray
        case 4: self = (application.adobeTransform ?? 0) == 0 ? .cmyk : .ycck
        default:
            let names = frame.components.map(\.identifier)
            if application.isJFIF {
                self = .yCbCr
            } else if let transform = application.adobeTransform {
                self = transform == 0 ? .rgb : .yCbCr
            } else {
                self = names == Array("RGB".utf8) ? .rgb : .yCbCr
            }
        }
    }
}
