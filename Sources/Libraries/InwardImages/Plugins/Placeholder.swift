public import InwardCore

/// Shows something where there is no image: a colour with a text on it, or the blur of a ``ThumbHash``.
///
/// An image is let be, and so is what the caller gave up: nobody looks at it.
public struct Placeholder: Plugin {
    private enum Content: Hashable {
        case text(String, Color, on: Color)
        case blur(ThumbHash)
    }

    /// How large it is.
    public let size: ImageSize
    private let content: Content

    /// Shows a text on a colour.
    ///
    /// - Parameters:
    ///   - size: How large it is.
    ///   - color: What colour it is.
    ///   - text: What is written in the middle, a third of the shorter side high unless it would be too wide: a line of
    ///     printable characters of ASCII; any other character is shown as a box.
    ///   - textColor: What colour the text has.
    public init(
        size: ImageSize,
        color: Color = Color(gray: 224),
        text: String = "?",
        textColor: Color = Color(gray: 128)
    ) {
        self.size = size
        content = .text(text, textColor, on: color)
    }

    /// Shows the blur of a hash.
    ///
    /// - Parameters:
    ///   - size: How large it is.
    ///   - hash: The hash of the image that should be there.
    public init(size: ImageSize, blur hash: ThumbHash) {
        self.size = size
        content = .blur(hash)
    }

    /// The image, or what is shown in its place.
    public func applied(to value: ImageResult) async -> ImageResult {
        guard case .failure(let error) = value, error.reason != .cancelled else { return value }
        return .success(image)
    }

    /// What is shown where there is no image.
    public var image: Image {
        switch content {
        case .blur(let hash):
            return hash.image(size: size)
        case .text(let text, let textColor, let color):
            var image = Image(size: size, color: color)
            guard let lettering = Lettering(text) else { return image }
            let ratio = Double(lettering.columnCount) / Double(Lettering.rowCount)
            let height = min(Double(min(size.width, size.height)) / 3, Double(size.width) * 0.8 / ratio)
            let box = ImageSize(clamping: Int((height * ratio).rounded()), Int(height.rounded()))
            let place = PixelRectangle(box, at: .center, of: size)
            // Two rows of nine are below the line, and have to be as high above the letters for these to be in the middle.
            let y = place.y + box.height / Lettering.rowCount
            image.draw(lettering.image(size: box, color: textColor), x: place.x, y: y, opacity: 255)
            return image
        }
    }
}
