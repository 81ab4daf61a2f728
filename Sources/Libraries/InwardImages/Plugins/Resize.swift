/// A filter that resizes an image.
///
/// ```swift
/// loader.addPlugin(Resize(width: 640, height: 480))               // Fits the image within 640×480.
/// loader.addPlugin(Resize(width: 200, height: 200, mode: .fill))  // Fills 200×200, and crops the excess.
/// ```
///
/// As the first plugin of a loader, it lets the codec decode large images at a reduced size. It resamples in linear light with
/// pixels weighted by alpha, using a Catmull-Rom kernel that is widened when the image shrinks.
public struct Resize: ImageFilter {
    /// How the aspect ratio is handled.
    public enum Mode: Hashable, Sendable {
        /// Keeps the aspect ratio, and fits the image within the size. One side may be shorter.
        case fit
        /// Keeps the aspect ratio, fills the size, and crops the excess. The gravity selects the part that is kept.
        case fill(Gravity)
        /// Stretches the image to the exact size.
        case exact

        /// Fills the size and keeps the center.
        public static let fill = Mode.fill(.center)
    }

    /// The target size.
    public let size: ImageSize
    /// How the aspect ratio is handled.
    public let mode: Mode
    /// Whether images that are too small are enlarged.
    public let enlarges: Bool

    /// The maximum number of pixels of an enlarged image, 100,000,000.
    public static let maximumPixelCount = 100_000_000

    /// Creates a resizing filter.
    ///
    /// - Parameters:
    ///   - size: The target size.
    ///   - mode: How the aspect ratio is handled.
    ///   - enlarges: Whether images that are too small are enlarged. If `false`, `fit` leaves such an image unchanged, `fill`
    ///     crops it to the aspect ratio of the size, and `exact` does not lengthen a side. An image is also not enlarged if it
    ///     would exceed ``maximumPixelCount``.
    public init(to size: ImageSize, mode: Mode = .fit, enlarges: Bool = false) {
        self.size = size
        self.mode = mode
        self.enlarges = enlarges
    }

    /// Creates a resizing filter for a width and a height, which are clamped to the range from 1 to `ImageSize.longestSide`.
    public init(width: Int, height: Int, mode: Mode = .fit, enlarges: Bool = false) {
        self.init(to: ImageSize(clamping: width, height), mode: mode, enlarges: enlarges)
    }

    /// Returns the resized image.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        try filtered(image, reducedFrom: image.size)
    }

    /// Resizes an image that was decoded at a reduced size. The result has the same size as without the reduction.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
        let scaling = scaling(of: size).reduced(to: image.size)
        guard !scaling.keepsEverything else { return image }
        return try Resampler.resampled(image, columns: scaling.columns, rows: scaling.rows, to: scaling.size)
    }

    /// Resizes an image like ``filtered(_:reducedFrom:)``. A child task resamples half of a large image.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filter(_ image: Image, reducedFrom size: ImageSize) async throws(CancellationError) -> Image {
        let scaling = scaling(of: size).reduced(to: image.size)
        guard !scaling.keepsEverything else { return image }
        return try await Resampler.resample(image, columns: scaling.columns, rows: scaling.rows, to: scaling.size)
    }

    /// Returns the size of the result for an image of the given size.
    public func resultSize(for size: ImageSize) -> ImageSize { scaling(of: size).size }

    /// Returns the number of bytes of the result and of the rows that are being resampled. For a large image, this includes the
    /// rows of the child task, and its half of the result.
    public func workingBytes(for size: ImageSize) -> Int {
        let scaling = scaling(of: size)
        return scaling.keepsEverything ? 0 : scaling.size.byteCount + Resampler.workingBytes(for: scaling)
    }

    /// Returns 1.5 times the size that the whole image is scaled to, or `nil` if that is not smaller than the image.
    ///
    /// A decoder that reduces an image averages adjacent pixels, which dims fine detail and causes some aliasing. If this
    /// filter then shrinks the image by at least another third, most of these artifacts are too fine to be visible.
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

/// A mapping of a part of an image to a size.
struct Scaling {
    /// The size of the image.
    let source: ImageSize
    /// The columns of the part, in pixels from the left edge.
    let columns: Range<Double>
    /// The rows of the part, in pixels from the top edge.
    let rows: Range<Double>
    /// The size of the result.
    let size: ImageSize

    /// The number of source columns per result column.
    var horizontalScale: Double { (columns.upperBound - columns.lowerBound) / Double(size.width) }
    /// The number of source rows per result row.
    var verticalScale: Double { (rows.upperBound - rows.lowerBound) / Double(size.height) }
    /// Whether a side becomes longer.
    var enlarges: Bool { horizontalScale < 1 || verticalScale < 1 }
    /// Whether the image stays unchanged.
    var keepsEverything: Bool {
        size == source && columns == 0..<Double(source.width) && rows == 0..<Double(source.height)
    }

    /// Computes the mapping for a resize.
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
                // Crops whole pixels without resampling.
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
    /// Returns the same mapping for an image that was decoded at a reduced size.
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
