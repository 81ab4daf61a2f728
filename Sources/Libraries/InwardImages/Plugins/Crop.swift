/// A filter that crops an image to a rectangle, without resampling.
///
/// ```swift
/// loader.addPlugin(Crop(to: ImageSize(clamping: 200, 200), at: .top))
/// ```
public struct Crop: ImageFilter {
    private enum Place: Hashable {
        case pixel(x: Int, y: Int)
        case gravity(Gravity)
    }

    /// The size of the rectangle. For smaller images, it is limited to the size of the image.
    public let size: ImageSize
    private let place: Place

    /// Creates a filter that crops to a rectangle at a position.
    ///
    /// - Parameters:
    ///   - size: The size of the rectangle. The part outside the image is cut off. If the whole rectangle is outside, the
    ///     nearest column, row, or corner pixel of the image is kept.
    ///   - x: The number of columns to the left of the rectangle.
    ///   - y: The number of rows above the rectangle.
    public init(to size: ImageSize, x: Int, y: Int) {
        self.size = size
        place = .pixel(x: x, y: y)
    }

    /// Creates a filter that crops to a size.
    ///
    /// - Parameters:
    ///   - size: The size of the rectangle. Sides that are longer than those of the image are shortened.
    ///   - gravity: The position of the rectangle.
    public init(to size: ImageSize, at gravity: Gravity = .center) {
        self.size = size
        place = .gravity(gravity)
    }

    /// Returns the cropped image.
    public func filtered(_ image: Image) -> Image {
        switch place {
        case .pixel(let x, let y):
            image.cropped(to: PixelRectangle(size, x: x, y: y))
        case .gravity(let gravity):
            image.cropped(to: PixelRectangle(size.limited(to: image.size), at: gravity, of: image.size))
        }
    }

    /// Returns the size of the rectangle, limited to the size of the image. The cropped image is smaller if the rectangle
    /// extends beyond an edge.
    public func resultSize(for size: ImageSize) -> ImageSize { self.size.limited(to: size) }
}

extension ImageSize {
    fileprivate func limited(to other: ImageSize) -> ImageSize {
        ImageSize(width: min(width, other.width), height: min(height, other.height)) ?? other
    }
}

extension Image {
    /// Returns the pixels in a rectangle, which is clipped to the image.
    func cropped(to rectangle: PixelRectangle) -> Image {
        let part = rectangle.clipped(to: size)
        guard part.size != size else { return self }
        let source = bytes.span
        let sourceStride = size.width * Self.bytesPerPixel
        let stride = part.size.width * Self.bytesPerPixel
        return Image(size: part.size, orientation: orientation) { pixels in
            for y in 0..<part.size.height {
                let start = (part.y + y) * sourceStride + part.x * Self.bytesPerPixel
                let row = source.extracting(start..<start + stride)
                let target = y * stride
                for i in row.indices { pixels[target + i] = row[i] }
            }
        }
    }
}

/// One of nine positions within an image, such as the position of a watermark, or of the part that a crop keeps.
///
/// ```swift
/// loader.addPlugin(Resize(width: 200, height: 200, mode: .fill(.top)))  // Keeps the top of a tall image.
/// loader.addPlugin(Watermark(.text("Example", .white), at: .single(.bottomLeft)))
/// ```
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
    /// The number of columns to the left of the rectangle, negative if it extends beyond the left edge of the image.
    let x: Int
    /// The number of rows above the rectangle, negative if it extends beyond the top edge of the image.
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
