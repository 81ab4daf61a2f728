/// Which part of a picture becomes how large.
struct Scaling {
    /// How large the picture is.
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

    /// Brings a picture to a size.
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
    /// The same of a picture that was made smaller before: the same part of it, to the same size.
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
