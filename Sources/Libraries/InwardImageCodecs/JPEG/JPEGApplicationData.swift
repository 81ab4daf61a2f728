import InwardImages

/// What the application segments of a file say of its picture.
struct JPEGApplicationData {
    private static let jfifName = Array("JFIF\0".utf8)
    private static let exifName = Array("Exif\0".utf8)
    private static let adobeName = Array("Adobe".utf8)

    /// Whether it follows JFIF (ITU-T T.871), which knows grey and YCbCr.
    private(set) var isJFIF = false
    /// How Adobe says that the colours were transformed: 0 for not at all, 1 for YCbCr, 2 for YCCK; `nil` if it says nothing.
    private(set) var adobeTransform: UInt8?
    /// How the picture is to be turned.
    private(set) var orientation = Orientation.up
    private var hasExif = false

    /// Takes in a segment; one that is nothing of what is known here says nothing.
    mutating func read(_ marker: UInt8, _ data: Span<UInt8>, _ segment: Range<Int>) {
        let content = data.extracting(segment)
        switch marker {
        case JPEGMarker.jfif where content.starts(with: Self.jfifName):
            isJFIF = true
        case JPEGMarker.adobe where content.count >= 12 && content.starts(with: Self.adobeName):
            adobeTransform = content[11]
        case JPEGMarker.exif where !hasExif && content.starts(with: Self.exifName):
            guard content.count > 6 else { return }
            hasExif = true
            orientation = Orientation(exif: content.extracting(6...)) ?? .up
        default: break
        }
    }
}

extension Span<UInt8> {
    fileprivate func starts(with name: [UInt8]) -> Bool {
        count >= name.count && name.indices.allSatisfy { self[$0] == name[$0] }
    }
}
