/// A filter that crops an image to a rectangle, without resampling.
///
///     loader.addPlugin(Crop(to: ImageSize(clamping: 200, 200), at: .top))
public struct Crop: ImageFilter {
    private enum Place: Hashable {
        case pixel(x: Int, y: Int)
        case gravity(Gravity)
    }

    /// The size of the rectangle, which is reduced for smaller images.
    public let size: ImageSize
    private let place: Place

    /// Creates a filter that crops to a rectangle at a position.
    ///
    /// - Parameters:
    ///   - size: The size of the rectangle. The part outside the image is cut off. If the whole rectangle is outside,
    ///     the nearest column, row, or corner pixel of the image is kept.
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

    /// Returns the size of the crop, limited to the size of the image.
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
