/// Keeps a part of an image, pixel by pixel.
public struct Crop: ImageFilter {
    private enum Place: Hashable {
        case pixel(x: Int, y: Int)
        case gravity(Gravity)
    }

    /// How large the part is that is kept, where the image is not smaller.
    public let size: ImageSize
    private let place: Place

    /// Keeps a rectangle.
    ///
    /// - Parameters:
    ///   - size: How large it is. What of it lies outside of the image is left out; if all of it does, the pixels that are
    ///     nearest to it are kept, one column, one row, or one pixel in a corner.
    ///   - x: How many columns are to the left of it.
    ///   - y: How many rows are above it.
    public init(to size: ImageSize, x: Int, y: Int) {
        self.size = size
        place = .pixel(x: x, y: y)
    }

    /// Keeps a part of a size.
    ///
    /// - Parameters:
    ///   - size: How large it is; a side that is longer than the image's is taken for that.
    ///   - gravity: Where it lies.
    public init(to size: ImageSize, at gravity: Gravity = .center) {
        self.size = size
        place = .gravity(gravity)
    }

    /// The part of the image.
    public func filtered(_ image: Image) -> Image {
        switch place {
        case .pixel(let x, let y):
            image.cropped(to: PixelRectangle(size, x: x, y: y))
        case .gravity(let gravity):
            image.cropped(to: PixelRectangle(size.limited(to: image.size), at: gravity, of: image.size))
        }
    }

    /// The size of the part, or of what there is.
    public func resultSize(for size: ImageSize) -> ImageSize { self.size.limited(to: size) }
}

extension ImageSize {
    fileprivate func limited(to other: ImageSize) -> ImageSize {
        ImageSize(width: min(width, other.width), height: min(height, other.height)) ?? other
    }
}

extension Image {
    /// The pixels in a rectangle, which is clipped to the image.
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
