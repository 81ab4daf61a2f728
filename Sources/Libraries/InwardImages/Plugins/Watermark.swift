import InwardCore

/// A filter that draws a watermark over an image: another image, or a text.
///
/// ```swift
/// loader.addPlugin(Watermark(.text("Example", .white), at: .single(.topLeft), opacity: 0.5))
///
/// let logo = try codec.image(from: jpeg, ImageDecodingOptions())
/// loader.addPlugin(Watermark(.image(logo), width: .ofShorterSide(0.25)))
/// ```
///
/// The built-in font of ``Mark/text(_:_:)`` has printable ASCII characters only. For other scripts, let a ``Typesetter`` make
/// outlines:
///
/// ```swift
/// func addWatermark(_ text: String, to loader: inout ImageLoader, _ typesetter: any Typesetter) throws {
///     loader.addPlugin(Watermark(.outline(try typesetter.outline(of: text), .white)))
/// }
/// ```
///
/// The size and the margin of the mark are relative to the size of the image, so that it looks the same on all images. The
/// filter blends sRGB-encoded values, as browsers do with overlays.
public struct Watermark: ImageFilter {
    /// The content of a watermark.
    public enum Mark: Hashable, Sendable {
        /// An image.
        case image(Image)
        /// A line of printable ASCII characters in a color. Other characters appear as boxes.
        case text(String, Color)
        /// A text of any script in a color, which a ``Typesetter`` has turned into outlines. It is sharp at any size.
        case outline(TextOutline, Color)
    }

    /// The position of a watermark.
    public enum Placement: Hashable, Sendable {
        /// At one of nine positions, with a margin as a fraction of the shorter side of the image.
        case single(Gravity, margin: Double)
        /// Repeated across the image, with spacing as a fraction of the shorter side of the image.
        case tiled(spacing: Double)

        /// At one of nine positions, with a margin of 3% of the shorter side of the image.
        public static func single(_ gravity: Gravity) -> Placement { .single(gravity, margin: 0.03) }
        /// Repeated across the image, with spacing of 10% of the shorter side of the image.
        public static let tiled = Placement.tiled(spacing: 0.1)
    }

    /// The width of a watermark. Its aspect ratio is kept.
    public enum Width: Hashable, Sendable {
        /// A fraction of the width of the image.
        case ofWidth(Double)
        /// A fraction of the shorter side of the image.
        case ofShorterSide(Double)
    }

    /// The content of the watermark.
    public let mark: Mark
    /// The position of the watermark.
    public let placement: Placement
    /// The width of the watermark.
    public let width: Width
    /// The opacity, from 0 (invisible) to 1 (opaque).
    public let opacity: Double

    /// Creates a watermark filter.
    ///
    /// Fractions and the opacity are clamped to the range from 0 to 1, and NaN counts as the default. The mark is at least one
    /// pixel wide and high, and never larger than the image without its margins.
    ///
    /// - Parameters:
    ///   - mark: The content of the watermark.
    ///   - placement: The position of the watermark. The margin is limited to 0.45.
    ///   - width: The width of the watermark.
    ///   - opacity: The opacity of the watermark.
    public init(
        _ mark: Mark,
        at placement: Placement = .single(.bottomRight),
        width: Width = .ofWidth(0.2),
        opacity: Double = 0.8
    ) {
        self.mark = mark
        self.placement =
            switch placement {
            case .single(let gravity, let margin): .single(gravity, margin: min(margin.share(or: 0.03), 0.45))
            case .tiled(let spacing): .tiled(spacing: spacing.share(or: 0.1))
            }
        self.width =
            switch width {
            case .ofWidth(let share): .ofWidth(share.share(or: 0.2))
            case .ofShorterSide(let share): .ofShorterSide(share.share(or: 0.2))
            }
        self.opacity = opacity.share(or: 0.8)
    }

    /// Returns the characters of a text that the font of watermarks lacks, each once, in order. They would appear as boxes.
    ///
    /// ```swift
    /// let missing = Watermark.missingCharacters(in: "© Example")  // ["©"]
    /// ```
    public static func missingCharacters(in text: String) -> [Character] {
        var missing: [Character] = []
        var seen: Set<Character> = []
        for character in text where PixelFont.glyph(of: character) == PixelFont.box && seen.insert(character).inserted {
            missing.append(character)
        }
        return missing
    }

    /// Returns the image with the watermark.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        let opacity = Int((opacity * 255).rounded())
        guard opacity > 0, let mark = try drawnMark(for: image.size) else { return image }
        var image = image
        switch placement {
        case .single(let gravity, _):
            let place = PixelRectangle(mark.size, at: gravity, of: image.size, margin: gap(for: image.size))
            image.draw(mark, x: place.x, y: place.y, opacity: opacity)
        case .tiled:
            let gap = gap(for: image.size)
            for y in stride(from: gap / 2, to: image.size.height, by: mark.size.height + gap) {
                if Task.isCancelled { throw CancellationError() }
                for x in stride(from: gap / 2, to: image.size.width, by: mark.size.width + gap) {
                    image.draw(mark, x: x, y: y, opacity: opacity)
                }
            }
        }
        return image
    }

    /// Returns twice the byte count of the image: for the result, and for the mark, which is not larger than the image.
    public func workingBytes(for size: ImageSize) -> Int { 2 * size.byteCount }

    /// Returns the mark at its size for an image, or `nil` if nothing of it is visible.
    private func drawnMark(for target: ImageSize) throws(CancellationError) -> Image? {
        let size: ImageSize
        switch mark {
        case .image(let image):
            size = markSize(proportions: (Double(image.size.width), Double(image.size.height)), for: target)
            return try Resampler.resampled(image, to: size)
        case .text(let text, let color):
            guard let lettering = Lettering(text), color.alpha > 0 else { return nil }
            size = markSize(proportions: (Double(lettering.columnCount), Double(Lettering.rowCount)), for: target)
            return lettering.image(size: size, color: color)
        case .outline(let outline, let color):
            guard !outline.isEmpty, color.alpha > 0 else { return nil }
            size = markSize(proportions: (outline.width, outline.height), for: target)
            return try outline.image(size: size, color: color)
        }
    }

    private func markSize(proportions: (width: Double, height: Double), for target: ImageSize) -> ImageSize {
        let width: Double
        switch self.width {
        case .ofWidth(let share): width = share * Double(target.width)
        case .ofShorterSide(let share): width = share * Double(min(target.width, target.height))
        }
        let margins: Int
        if case .single = placement { margins = 2 * gap(for: target) } else { margins = 0 }
        let ratio = proportions.height / proportions.width
        let limit = min(Double(target.width - margins), Double(target.height - margins) / ratio)
        let fitting = min(width, limit)
        return ImageSize(
            clamping: Int(min(fitting.rounded(), Double(target.width))),
            Int(min((fitting * ratio).rounded(), Double(target.height)))
        )
    }

    /// Returns the margin, or the spacing of the tiles, in pixels.
    private func gap(for target: ImageSize) -> Int {
        let share =
            switch placement {
            case .single(_, let margin): margin
            case .tiled(let spacing): spacing
            }
        return Int((share * Double(min(target.width, target.height))).rounded())
    }
}

extension PluginCollection<ImageResult> {
    /// The number of bytes that the outlines of texts occupy. Plugins that were made for one load share them with no others.
    var outlineBytes: Int {
        reduce(0) { sum, plugin in
            guard case .outline(let outline, _)? = (plugin as? Watermark)?.mark else { return sum }
            return sum + outline.byteCount
        }
    }
}

extension Double {
    /// Returns the number clamped to the range from 0 to 1, or another number instead of NaN.
    fileprivate func share(or other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, 0), 1)
    }
}

extension Image {
    /// Draws another image over this one, with its top left corner at a pixel. The part outside this image is cut off.
    ///
    /// It applies the "source over" operator of Porter and Duff (1984) to sRGB-encoded values, as browsers and drawing programs
    /// do, so that half-transparent colors look as expected.
    ///
    /// - Parameters:
    ///   - mark: The image to draw.
    ///   - x: The number of columns to the left of the drawn image, negative if it extends beyond the left edge.
    ///   - y: The number of rows above the drawn image, negative if it extends beyond the top edge.
    ///   - opacity: The opacity, from 0 to 255.
    mutating func draw(_ mark: Image, x: Int, y: Int, opacity: Int) {
        let columns = max(0, -x)..<max(0, -x, min(mark.size.width, size.width - x))
        let rows = max(0, -y)..<max(0, -y, min(mark.size.height, size.height - y))
        guard !columns.isEmpty else { return }
        let source = mark.bytes.span
        let stride = size.width * Self.bytesPerPixel
        update { pixels in
            for row in rows {
                let first = (row * mark.size.width + columns.lowerBound) * Self.bytesPerPixel
                let start = (y + row) * stride + (x + columns.lowerBound) * Self.bytesPerPixel
                let count = columns.count * Self.bytesPerPixel
                pixels.draw(source.extracting(first..<first + count), at: start, opacity: opacity)
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Draws a row of pixels, starting at an index.
    fileprivate mutating func draw(_ source: Span<UInt8>, at start: Int, opacity: Int) {
        var j = 0
        var i = start
        while j < source.count {
            // In units of 1 / (255 · 255).
            let share = Int(source[j + 3]) * opacity
            if share == 65025 {
                self[i] = source[j]
                self[i + 1] = source[j + 1]
                self[i + 2] = source[j + 2]
                self[i + 3] = 255
            } else if share > 0 {
                let below = Int(self[i + 3]) * (65025 - share)
                let above = 255 * share
                let sum = above + below
                self[i] = UInt8((Int(source[j]) * above + Int(self[i]) * below + sum / 2) / sum)
                self[i + 1] = UInt8((Int(source[j + 1]) * above + Int(self[i + 1]) * below + sum / 2) / sum)
                self[i + 2] = UInt8((Int(source[j + 2]) * above + Int(self[i + 2]) * below + sum / 2) / sum)
                self[i + 3] = UInt8((sum + 32512) / 65025)
            }
            j += Image.bytesPerPixel
            i += Image.bytesPerPixel
        }
    }
}
