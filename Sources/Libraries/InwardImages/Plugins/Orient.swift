/// A filter that rotates and mirrors the pixels of an image according to its orientation. The result has the orientation
/// ``Orientation/up``.
///
/// ```swift
/// let upright = try Orient().filtered(image)
/// ```
///
/// Every ``ImageLoader`` begins with this plugin, because the other filters operate on the stored pixels.
public struct Orient: ImageFilter {
    private static let squareSide = 32

    /// Creates an orientation filter.
    public init() {}

    /// Returns the image with its orientation applied.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        guard image.orientation != .up else { return image }
        let size = image.orientation.swapsSides ? image.size.transposed : image.size
        let walk = Walk(image)
        let source = image.bytes.span
        return try Image(size: size) { pixels throws(CancellationError) in
            // Works in square blocks for cache locality: a row that becomes a column touches one cache line per pixel.
            for top in stride(from: 0, to: size.height, by: Self.squareSide) {
                if Task.isCancelled { throw CancellationError() }
                for left in stride(from: 0, to: size.width, by: Self.squareSide) {
                    for y in top..<min(top + Self.squareSide, size.height) {
                        var from = (walk.start + left * walk.across + y * walk.down) * Image.bytesPerPixel
                        var to = (y * size.width + left) * Image.bytesPerPixel
                        for _ in left..<min(left + Self.squareSide, size.width) {
                            pixels[to] = source[from]
                            pixels[to + 1] = source[from + 1]
                            pixels[to + 2] = source[from + 2]
                            pixels[to + 3] = source[from + 3]
                            from += walk.across * Image.bytesPerPixel
                            to += Image.bytesPerPixel
                        }
                    }
                }
            }
        }
    }
}

extension Orient {
    /// The index of the stored pixel that is displayed at the top left, and the index steps from a pixel to the ones that are
    /// displayed to its right and below it.
    private struct Walk {
        let start: Int
        let across: Int
        let down: Int

        init(_ image: Image) {
            let (width, height) = (image.size.width, image.size.height)
            let (right, bottom) = (width - 1, (height - 1) * width)
            (start, across, down) =
                switch image.orientation {
                case .up: (0, 1, width)
                case .upMirrored: (right, -1, width)
                case .down: (bottom + right, -1, -width)
                case .downMirrored: (bottom, 1, -width)
                case .leftMirrored: (0, width, 1)
                case .right: (bottom, -width, 1)
                case .rightMirrored: (bottom + right, -width, -1)
                case .left: (right, width, -1)
                }
        }
    }
}
