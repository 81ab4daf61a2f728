/// Turns the pixels of an image as its orientation says, which is `Orientation.up` then.
///
/// It goes before filters that care for what is up: they take the pixels as they are stored.
public struct Orient: ImageFilter {
    private static let squareSide = 32

    /// Turns images as they are to be shown.
    public init() {}

    /// The image as it is to be shown.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        guard image.orientation != .up else { return image }
        let size = image.orientation.swapsSides ? image.size.transposed : image.size
        let walk = Walk(image)
        let source = image.bytes.span
        return try Image(size: size) { pixels throws(CancellationError) in
            // Square by square, because a row that becomes a column touches as many places of memory as it has pixels.
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
    /// Which stored pixel is shown first, and how far it is from one to those shown to the right of it and below it.
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
