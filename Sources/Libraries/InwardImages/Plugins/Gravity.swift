/// Where something goes that does not fill the image, or what of an image is kept: one of nine places.
public enum Gravity: Hashable, Sendable, CaseIterable {
    /// At the corner above, to the left.
    case topLeft
    /// At the edge above, in the middle.
    case top
    /// At the corner above, to the right.
    case topRight
    /// At the edge to the left, in the middle.
    case left
    /// In the middle.
    case center
    /// At the edge to the right, in the middle.
    case right
    /// At the corner below, to the left.
    case bottomLeft
    /// At the edge below, in the middle.
    case bottom
    /// At the corner below, to the right.
    case bottomRight

    /// How far to the right it is: 0 at the left, 1 in the middle, 2 at the right.
    public var column: Int {
        switch self {
        case .topLeft, .left, .bottomLeft: 0
        case .top, .center, .bottom: 1
        case .topRight, .right, .bottomRight: 2
        }
    }

    /// How far down it is: 0 at the top, 1 in the middle, 2 at the bottom.
    public var row: Int {
        switch self {
        case .topLeft, .top, .topRight: 0
        case .left, .center, .right: 1
        case .bottomLeft, .bottom, .bottomRight: 2
        }
    }
}

/// A part of an image in whole pixels.
struct PixelRectangle: Hashable {
    /// How many columns are to the left of it; fewer than none if it begins outside.
    let x: Int
    /// How many rows are above it; fewer than none if it begins outside.
    let y: Int
    /// How large it is.
    let size: ImageSize

    /// A rectangle of a size at a place of an image.
    init(_ size: ImageSize, at gravity: Gravity, of image: ImageSize, margin: Int = 0) {
        x = Self.start(size.width, gravity.column, image.width, margin)
        y = Self.start(size.height, gravity.row, image.height, margin)
        self.size = size
    }

    /// A rectangle whose upper left corner is at a pixel.
    init(_ size: ImageSize, x: Int, y: Int) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// What of the rectangle lies in an image, or else the pixels of the image that are nearest to it.
    func clipped(to image: ImageSize) -> PixelRectangle {
        let columns = Self.clip(x, size.width, image.width)
        let rows = Self.clip(y, size.height, image.height)
        let size = ImageSize(width: columns.count, height: rows.count) ?? image
        return PixelRectangle(size, x: columns.lowerBound, y: rows.lowerBound)
    }

    private static func start(_ length: Int, _ third: Int, _ whole: Int, _ margin: Int) -> Int {
        switch third {
        case 0: margin
        case 1: (whole - length) / 2
        default: whole - length - margin
        }
    }

    private static func clip(_ start: Int, _ length: Int, _ whole: Int) -> Range<Int> {
        let first = min(max(0, start), whole - 1)
        let (end, isTooFar) = start.addingReportingOverflow(length)
        return first..<min(max(first + 1, isTooFar ? whole : end), whole)
    }
}
