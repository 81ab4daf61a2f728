/// Lays a mark over an image: another image, or a text.
///
/// The encoded values are mixed, as browsers do with overlays. How large the mark is and how far from the edges follows from
/// the size of the image, so that it looks the same on all of them.
public struct Watermark: ImageFilter {
    /// What is laid over an image.
    public enum Mark: Hashable, Sendable {
        /// An image.
        case image(Image)
        /// A line of printable characters of ASCII, in a colour; any other character is shown as a box.
        case text(String, Color)
    }

    /// Where it is laid.
    public enum Placement: Hashable, Sendable {
        /// At one of nine places, at a distance from the edges: a share of the shorter side of the image.
        case single(Gravity, margin: Double)
        /// All over the image, at a distance from one another: a share of the shorter side of the image.
        case tiled(spacing: Double)

        /// At one of nine places, with a margin of 3 % of the shorter side of the image.
        public static func single(_ gravity: Gravity) -> Placement { .single(gravity, margin: 0.03) }
        /// All over the image, at a distance of 10 % of the shorter side of the image.
        public static let tiled = Placement.tiled(spacing: 0.1)
    }

    /// How wide it is, in the proportions it has.
    public enum Width: Hashable, Sendable {
        /// A share of the width of the image.
        case ofWidth(Double)
        /// A share of the shorter side of the image.
        case ofShorterSide(Double)
    }

    /// What is laid over an image.
    public let mark: Mark
    /// Where it is laid.
    public let placement: Placement
    /// How wide it is.
    public let width: Width
    /// How much of it is seen, from nothing at 0 to all at 1.
    public let opacity: Double

    /// Lays a mark over images.
    ///
    /// A share of less than 0 is taken for 0, one of more than 1 for 1, and what is no number for what is used if nothing is
    /// said. A mark is at least one pixel wide and high, and never larger than the image without its margins.
    ///
    /// - Parameters:
    ///   - mark: What is laid over an image.
    ///   - placement: Where it is laid. A margin of more than 0.45 is taken for that.
    ///   - width: How wide it is.
    ///   - opacity: How much of it is seen.
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

    /// The image with the mark on it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
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

    /// Twice the image: the result, and the mark, which is no larger.
    public func workingBytes(for size: ImageSize) -> Int { 2 * size.byteCount }

    /// The mark as large as it is on an image; `nil` if there is nothing to be seen of it.
    private func drawnMark(for target: ImageSize) throws(CancellationError) -> Image? {
        let size: ImageSize
        switch mark {
        case .image(let image):
            size = markSize(proportions: (image.size.width, image.size.height), for: target)
            return try Resampler.resampled(image, to: size)
        case .text(let text, let color):
            guard let lettering = Lettering(text), color.alpha > 0 else { return nil }
            size = markSize(proportions: (lettering.columnCount, Lettering.rowCount), for: target)
            return lettering.image(size: size, color: color)
        }
    }

    private func markSize(proportions: (width: Int, height: Int), for target: ImageSize) -> ImageSize {
        let width: Double
        switch self.width {
        case .ofWidth(let share): width = share * Double(target.width)
        case .ofShorterSide(let share): width = share * Double(min(target.width, target.height))
        }
        let margins: Int
        if case .single = placement { margins = 2 * gap(for: target) } else { margins = 0 }
        let ratio = Double(proportions.height) / Double(proportions.width)
        let limit = min(Double(target.width - margins), Double(target.height - margins) / ratio)
        let fitting = min(width, limit)
        return ImageSize(
            clamping: Int(min(fitting.rounded(), Double(target.width))),
            Int(min((fitting * ratio).rounded(), Double(target.height)))
        )
    }

    /// The margin, or the distance of the tiles, in pixels.
    private func gap(for target: ImageSize) -> Int {
        let share =
            switch placement {
            case .single(_, let margin): margin
            case .tiled(let spacing): spacing
            }
        return Int((share * Double(min(target.width, target.height))).rounded())
    }
}

extension Double {
    /// The number, from 0 to 1; another one if it is none.
    fileprivate func share(or other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, 0), 1)
    }
}

extension Image {
    /// Lays another image over this one, with its upper left corner at a pixel; what of it lies outside is left out.
    ///
    /// It is the operator "source over" of Porter and Duff (1984) on encoded values, which is what browsers and drawing
    /// programs do with overlays, and what people expect of a colour that is half transparent.
    ///
    /// - Parameters:
    ///   - mark: What is laid over it.
    ///   - x: How many columns are to the left of it; fewer than none if it begins outside.
    ///   - y: How many rows are above it.
    ///   - opacity: How much of it is seen, from 0 to 255.
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
    /// Lays a row of pixels over those from an index on.
    fileprivate mutating func draw(_ source: Span<UInt8>, at start: Int, opacity: Int) {
        var j = 0
        var i = start
        while j < source.count {
            // Of 255 times 255.
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
