public import InwardCore

/// A plugin that replaces a failed image with a placeholder: a text on a color, or the blur of a ``ThumbHash``.
///
/// It passes images and cancellations through.
///
///     loader.addPlugin(Placeholder(size: ImageSize(clamping: 320, 240), text: "No image"))
public struct Placeholder: Plugin {
    private enum Content: Hashable {
        case text(String, Color, on: Color)
        case blur(ThumbHash)
    }

    /// The size of the placeholder.
    public let size: ImageSize
    private let content: Content

    /// Creates a placeholder with a text on a color.
    ///
    /// - Parameters:
    ///   - size: The size of the placeholder.
    ///   - color: The background color.
    ///   - text: The centered text, one line of printable ASCII characters. Other characters appear as boxes. The
    ///     height is a third of the shorter side, or less if the text would be too wide.
    ///   - textColor: The color of the text.
    public init(
        size: ImageSize,
        color: Color = Color(gray: 224),
        text: String = "?",
        textColor: Color = Color(gray: 128)
    ) {
        self.size = size
        content = .text(text, textColor, on: color)
    }

    /// Creates a placeholder with the blur of a hash.
    ///
    /// - Parameters:
    ///   - size: The size of the placeholder.
    ///   - hash: The hash of the expected image.
    public init(size: ImageSize, blur hash: ThumbHash) {
        self.size = size
        content = .blur(hash)
    }

    /// Returns the image, or the placeholder if there is none.
    public func applied(to value: ImageResult) async -> ImageResult {
        guard case .failure(let error) = value, error.reason != .cancelled else { return value }
        return .success(image)
    }

    /// The placeholder image.
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
            // Moves the text down by one row, because the two rows below the baseline would otherwise make it appear
            // too high.
            let y = place.y + box.height / Lettering.rowCount
            image.draw(lettering.image(size: box, color: textColor), x: place.x, y: y, opacity: 255)
            return image
        }
    }
}
