/// Brings an image to a size.
///
/// Pixels are mixed as light, not as sRGB encodes it, and count by what can be seen of them. The kernel is that of Catmull
/// and Rom, widened where the image shrinks.
public struct Resize: ImageFilter {
    /// What becomes of the proportions.
    public enum Mode: Hashable, Sendable {
        /// They are kept, and the result lies within the size: one of its sides may be shorter.
        case fit
        /// They are kept, and the result has the size: what stands out is cut off, and what lies there is kept.
        case fill(Gravity)
        /// They are not kept: the result has the size.
        case exact

        /// Covers the size, and keeps the middle.
        public static let fill = Mode.fill(.center)
    }

    /// The size that is asked for.
    public let size: ImageSize
    /// What becomes of the proportions.
    public let mode: Mode
    /// Whether an image that is too small becomes larger.
    public let enlarges: Bool

    /// As many pixels as an enlarged image has at most, 100,000,000.
    public static let maximumPixelCount = 100_000_000

    /// Brings images to a size.
    ///
    /// - Parameters:
    ///   - size: The size.
    ///   - mode: What becomes of the proportions.
    ///   - enlarges: Whether an image that is too small becomes larger. If not, `fit` leaves such an image as it is, `fill`
    ///     gives the largest part of it that has the proportions of the size, and `exact` leaves a side as long as it is. A
    ///     image that would have more pixels than ``maximumPixelCount`` is not enlarged either.
    public init(to size: ImageSize, mode: Mode = .fit, enlarges: Bool = false) {
        self.size = size
        self.mode = mode
        self.enlarges = enlarges
    }

    /// Brings images to a size whose sides are taken for 1 if they are less, and for `ImageSize.longestSide` if they are
    /// more.
    public init(width: Int, height: Int, mode: Mode = .fit, enlarges: Bool = false) {
        self.init(to: ImageSize(clamping: width, height), mode: mode, enlarges: enlarges)
    }

    /// The image at the size.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        try filtered(image, reducedFrom: image.size)
    }

    /// The image at the size that it would have if it had been decoded as large as it is.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
        let scaling = scaling(of: size).reduced(to: image.size)
        guard !scaling.keepsEverything else { return image }
        return try Resampler.resampled(image, columns: scaling.columns, rows: scaling.rows, to: scaling.size)
    }

    /// The size that an image of a size is brought to.
    public func resultSize(for size: ImageSize) -> ImageSize { scaling(of: size).size }

    /// The bytes of the result, and of the rows that it is mixed of.
    public func workingBytes(for size: ImageSize) -> Int {
        let scaling = scaling(of: size)
        return scaling.keepsEverything ? 0 : scaling.size.byteCount + Resampler.workingBytes(for: scaling)
    }

    /// One and a half times what the image is scaled to, in both sides, and `nil` if that is not less than it is.
    ///
    /// A decoder that reduces an image takes the mean of neighbouring pixels, which dims fine detail and lets some of it
    /// appear as coarser one. Most of that is finer than what the result can show as long as the last step, which does better,
    /// is one by a third at least.
    public func leastSize(for size: ImageSize) -> ImageSize? {
        let scaling = scaling(of: size)
        let width = (Double(size.width) / scaling.horizontalScale * 1.5).rounded(.up)
        let height = (Double(size.height) / scaling.verticalScale * 1.5).rounded(.up)
        guard width < Double(size.width), height < Double(size.height) else { return nil }
        return ImageSize(width: Int(width), height: Int(height))
    }

    private func scaling(of source: ImageSize) -> Scaling {
        let scaling = Scaling(of: source, to: size, mode: mode, enlarges: enlarges)
        guard scaling.enlarges, scaling.size.pixelCount > Self.maximumPixelCount else { return scaling }
        return Scaling(of: source, to: size, mode: mode, enlarges: false)
    }
}

/// Which part of an image becomes how large.
struct Scaling {
    /// How large the image is.
    let source: ImageSize
    /// Between which columns the part lies, counted in pixels from the left edge.
    let columns: Range<Double>
    /// Between which rows the part lies, counted in pixels from the upper edge.
    let rows: Range<Double>
    /// How large the part becomes.
    let size: ImageSize

    /// How many columns become one.
    var horizontalScale: Double { (columns.upperBound - columns.lowerBound) / Double(size.width) }
    /// How many rows become one.
    var verticalScale: Double { (rows.upperBound - rows.lowerBound) / Double(size.height) }
    /// Whether a side becomes longer.
    var enlarges: Bool { horizontalScale < 1 || verticalScale < 1 }
    /// Whether nothing is changed.
    var keepsEverything: Bool {
        size == source && columns == 0..<Double(source.width) && rows == 0..<Double(source.height)
    }

    /// Brings an image to a size.
    init(of source: ImageSize, to size: ImageSize, mode: Resize.Mode, enlarges: Bool) {
        self.source = source
        let (width, height) = (Double(source.width), Double(source.height))
        let across = Double(size.width) / width
        let down = Double(size.height) / height
        var (partWidth, partHeight) = (width, height)
        var gravity = Gravity.center
        switch mode {
        case .exact:
            self.size = enlarges ? size : size.limited(toWidth: width).limited(toHeight: height)
        case .fit where min(across, down) >= 1 && !enlarges:
            self.size = source
        case .fit:
            self.size =
                across <= down
                ? size.limited(toHeight: height * Double(size.width) / width)
                : size.limited(toWidth: width * Double(size.height) / height)
        case .fill(let place):
            gravity = place
            partWidth = min(width, height * Double(size.width) / Double(size.height))
            partHeight = min(height, width * Double(size.height) / Double(size.width))
            if max(across, down) > 1, !enlarges {
                // Whole pixels are cut off, and none is changed.
                let part = source.limited(toWidth: partWidth).limited(toHeight: partHeight)
                (partWidth, partHeight) = (Double(part.width), Double(part.height))
                self.size = part
            } else {
                self.size = size
            }
        }
        var left = (width - partWidth) * Double(gravity.column) / 2
        var top = (height - partHeight) * Double(gravity.row) / 2
        if Double(self.size.width) == partWidth { left.round(.down) }
        if Double(self.size.height) == partHeight { top.round(.down) }
        columns = left..<left + partWidth
        rows = top..<top + partHeight
    }
}

extension Scaling {
    /// The same of an image that was made smaller before: the same part of it, to the same size.
    func reduced(to source: ImageSize) -> Scaling {
        guard source != self.source else { return self }
        let across = Double(source.width) / Double(self.source.width)
        let down = Double(source.height) / Double(self.source.height)
        return Scaling(
            source: source,
            columns: columns.lowerBound * across..<min(columns.upperBound * across, Double(source.width)),
            rows: rows.lowerBound * down..<min(rows.upperBound * down, Double(source.height)),
            size: size
        )
    }

    private init(source: ImageSize, columns: Range<Double>, rows: Range<Double>, size: ImageSize) {
        self.source = source
        self.columns = columns
        self.rows = rows
        self.size = size
    }
}

extension ImageSize {
    fileprivate func limited(toWidth limit: Double) -> ImageSize {
        ImageSize(width: max(1, Int(min(limit.rounded(), Double(width)))), height: height) ?? self
    }

    fileprivate func limited(toHeight limit: Double) -> ImageSize {
        ImageSize(width: width, height: max(1, Int(min(limit.rounded(), Double(height))))) ?? self
    }
}
