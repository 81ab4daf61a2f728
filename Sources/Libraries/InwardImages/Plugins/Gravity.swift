/// One of nine positions within an image, for content that does not fill it or for the part that is kept.
public enum Gravity: Hashable, Sendable, CaseIterable {
    /// The top left corner.
    case topLeft
    /// The center of the top edge.
    case top
    /// The top right corner.
    case topRight
    /// The center of the left edge.
    case left
    /// The center of the image.
    case center
    /// The center of the right edge.
    case right
    /// The bottom left corner.
    case bottomLeft
    /// The center of the bottom edge.
    case bottom
    /// The bottom right corner.
    case bottomRight

    /// The horizontal position: 0 for left, 1 for center, 2 for right.
    public var column: Int {
        switch self {
        case .topLeft, .left, .bottomLeft: 0
        case .top, .center, .bottom: 1
        case .topRight, .right, .bottomRight: 2
        }
    }

    /// The vertical position: 0 for top, 1 for center, 2 for bottom.
    public var row: Int {
        switch self {
        case .topLeft, .top, .topRight: 0
        case .left, .center, .right: 1
        case .bottomLeft, .bottom, .bottomRight: 2
        }
    }
}

/// A rectangle in whole pixels.
struct PixelRectangle: Hashable {
    /// The number of columns to the left of the rectangle. It is negative if the rectangle starts outside the image.
    let x: Int
    /// The number of rows above the rectangle. It is negative if the rectangle starts outside the image.
    let y: Int
    /// The size of the rectangle.
    let size: ImageSize

    /// Creates a rectangle at a position within an image.
    init(_ size: ImageSize, at gravity: Gravity, of image: ImageSize, margin: Int = 0) {
        x = Self.start(size.width, gravity.column, image.width, margin)
        y = Self.start(size.height, gravity.row, image.height, margin)
        self.size = size
    }

    /// Creates a rectangle with its top left corner at a pixel.
    init(_ size: ImageSize, x: Int, y: Int) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// Returns the part of the rectangle that is inside an image, or the nearest pixels of the image if there is none.
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
