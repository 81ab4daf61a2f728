/// Lays a mark over a picture: another picture, or a text.
///
/// The encoded values are mixed, as browsers do with overlays. How large the mark is and how far from the edges follows from
/// the size of the picture, so that it looks the same on all of them.
public struct Watermark: ImageFilter {
    /// What is laid over a picture.
    public enum Mark: Hashable, Sendable {
        /// A picture.
        case image(Image)
        /// A line of printable characters of ASCII, in a colour; any other character is shown as a box.
        case text(String, Color)
    }

    /// Where it is laid.
    public enum Placement: Hashable, Sendable {
        /// At one of nine places, at a distance from the edges: a share of the shorter side of the picture.
        case single(Gravity, margin: Double)
        /// All over the picture, at a distance from one another: a share of the shorter side of the picture.
        case tiled(spacing: Double)

        /// At one of nine places, with a margin of 3 % of the shorter side of the picture.
        public static func single(_ gravity: Gravity) -> Placement { .single(gravity, margin: 0.03) }
        /// All over the picture, at a distance of 10 % of the shorter side of the picture.
        public static let tiled = Placement.tiled(spacing: 0.1)
    }

    /// How wide it is, in the proportions it has.
    public enum Width: Hashable, Sendable {
        /// A share of the width of the picture.
        case ofWidth(Double)
        /// A share of the shorter side of the picture.
        case ofShorterSide(Double)
    }

    /// What is laid over a picture.
    public let mark: Mark
    /// Where it is laid.
    public let placement: Placement
    /// How wide it is.
    public let width: Width
    /// How much of it is seen, from nothing at 0 to all at 1.
    public let opacity: Double

    /// Lays a mark over pictures.
    ///
    /// A share of less than 0 is taken for 0, one of more than 1 for 1, and what is no number for what is used if nothing is
    /// said. A mark is at least one pixel wide and high, and never larger than the picture without its margins.
    ///
    /// - Parameters:
    ///   - mark: What is laid over a picture.
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

    /// The picture with the mark on it.
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

    /// Twice the picture: the result, and the mark, which is no larger.
    public func workingBytes(for size: ImageSize) -> Int { 2 * size.byteCount }

    /// The mark as large as it is on a picture; `nil` if there is nothing to be seen of it.
    private func drawnMark(for picture: ImageSize) throws(CancellationError) -> Image? {
        let size: ImageSize
        switch mark {
        case .image(let image):
            size = markSize(proportions: (image.size.width, image.size.height), for: picture)
            return try Resampler.resampled(image, to: size)
        case .text(let text, let color):
            guard let lettering = Lettering(text), color.alpha > 0 else { return nil }
            size = markSize(proportions: (lettering.columnCount, Lettering.rowCount), for: picture)
            return lettering.image(size: size, color: color)
        }
    }

    private func markSize(proportions: (width: Int, height: Int), for picture: ImageSize) -> ImageSize {
        let width: Double
        switch self.width {
        case .ofWidth(let share): width = share * Double(picture.width)
        case .ofShorterSide(let share): width = share * Double(min(picture.width, picture.height))
        }
        let margins: Int
        if case .single = placement { margins = 2 * gap(for: picture) } else { margins = 0 }
        let ratio = Double(proportions.height) / Double(proportions.width)
        let limit = min(Double(picture.width - margins), Double(picture.height - margins) / ratio)
        let fitting = min(width, limit)
        return ImageSize(
            clamping: Int(min(fitting.rounded(), Double(picture.width))),
            Int(min((fitting * ratio).rounded(), Double(picture.height)))
        )
    }

    /// The margin, or the distance of the tiles, in pixels.
    private func gap(for picture: ImageSize) -> Int {
        let share =
            switch placement {
            case .single(_, let margin): margin
            case .tiled(let spacing): spacing
            }
        return Int((share * Double(min(picture.width, picture.height))).rounded())
    }
}

extension Double {
    /// The number, from 0 to 1; another one if it is none.
    fileprivate func share(or other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, 0), 1)
    }
}
