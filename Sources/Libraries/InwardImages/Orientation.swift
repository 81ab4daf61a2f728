/// How the stored rows of a picture are to be turned to show it: the tag 0x0112 of TIFF 6.0, as Exif uses it.
public enum Orientation: Int, Hashable, Sendable, CaseIterable {
    /// As it is stored.
    case up = 1
    /// Left and right swapped.
    case upMirrored = 2
    /// Turned by half.
    case down = 3
    /// Top and bottom swapped.
    case downMirrored = 4
    /// Rows and columns swapped.
    case leftMirrored = 5
    /// To be turned by a quarter, clockwise.
    case right = 6
    /// Rows and columns swapped, and turned by half.
    case rightMirrored = 7
    /// To be turned by a quarter, counterclockwise.
    case left = 8

    /// Whether what is stored as a row is shown as a column.
    public var swapsSides: Bool { rawValue >= Orientation.leftMirrored.rawValue }
}
