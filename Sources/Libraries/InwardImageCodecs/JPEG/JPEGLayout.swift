import InwardImages

/// The layout of an image's samples in memory during decoding.
struct JPEGLayout {
    /// The size of the decoded image.
    let size: ImageSize
    /// The divisor of the sides.
    let reduction: Int
    /// The samples of each component.
    let planes: [JPEGPlane]
    /// The number of pixel rows in a row of MCUs.
    let bandRows: Int
    /// The number of those rows that require the next row of MCUs.
    let delayedRows: Int
    /// The capacity in samples.
    let sampleCount: Int
    /// The maximum sampling factors.
    let horizontal: Int
    let vertical: Int

    /// Creates the layout for a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - reduction: The divisor of the sides: 1, 2, 4 or 8.
    init(_ frame: JPEGFrame, reduction: Int) {
        size = frame.size.divided(by: reduction)
        self.reduction = reduction
        horizontal = frame.horizontal
        vertical = frame.vertical
        let side = 8 / reduction
        bandRows = frame.vertical * side
        let sides = frame.components.map { Self.blockSize(of: $0, in: frame, side) }
        let upsamplings = zip(frame.components, sides).map { Self.upsampling(of: $0, $1, in: frame, side) }
        delayedRows = upsamplings.contains(where: \.needsNextRow) ? 1 : 0
        var planes: [JPEGPlane] = []
        var count = 0
        // Vectors extend beyond the end of a row.
        let rowCount = size.width + 32
        for (index, component) in frame.components.enumerated() {
            let stride = component.storedBlocksAcross * sides[index] + 32
            let bandRows = component.vertical * sides[index]
            let storedRows = bandRows * (1 + delayedRows)
            planes.append(
                JPEGPlane(
                    blockSize: sides[index],
                    width: Self.samples(frame.size.width, component.horizontal * sides[index], 8 * frame.horizontal),
                    height: Self.samples(frame.size.height, component.vertical * sides[index], 8 * frame.vertical),
                    stride: stride,
                    bandRows: bandRows,
                    storedRows: storedRows,
                    start: count,
                    upsampling: upsamplings[index],
                    upsampledRow: count + storedRows * stride,
                    horizontal: component.horizontal * sides[index] / side,
                    vertical: component.vertical * sides[index] / side
                )
            )
            count += storedRows * stride + rowCount
        }
        sampleCount = count
        self.planes = planes
    }

    private static func samples(_ pixels: Int, _ factor: Int, _ divisor: Int) -> Int {
        (pixels * factor + divisor - 1) / divisor
    }

    /// Returns the side length of a block in samples. In a reduced image, a subsampled component is reduced less.
    private static func blockSize(of component: JPEGComponent, in frame: JPEGFrame, _ side: Int) -> Int {
        var size = side
        while size < 8, frame.horizontal * side % (component.horizontal * size * 2) == 0,
            frame.vertical * side % (component.vertical * size * 2) == 0
        {
            size *= 2
        }
        return size
    }

    private static func upsampling(
        of component: JPEGComponent,
        _ blockSize: Int,
        in frame: JPEGFrame,
        _ side: Int
    ) -> JPEGUpsampling {
        let width = component.horizontal * blockSize
        let height = component.vertical * blockSize
        let isHalfAcross = 2 * width == frame.horizontal * side
        let isHalfDown = 2 * height == frame.vertical * side
        let isWhole = (width == frame.horizontal * side, height == frame.vertical * side)
        // As in other decoders, except for very small images and for blocks of one sample.
        let hasNeighbors = samples(frame.size.width, width, 8 * frame.horizontal) > 2
        switch (isWhole.0, isWhole.1) {
        case (true, true): return .none
        case _ where side == 1: return .repeated
        case (true, false) where isHalfDown: return .down
        case (false, true) where isHalfAcross && hasNeighbors: return .across
        case (false, false) where isHalfAcross && isHalfDown && hasNeighbors: return .both
        default: return .repeated
        }
    }
}

/// The location of a component's samples during decoding: one row of MCUs, and the previous one if the image's rows need it.
struct JPEGPlane {
    /// The side length of a block in samples: 8, or fewer in a reduced image.
    let blockSize: Int
    /// The number of samples in a row of the image.
    let width: Int
    /// The number of sample rows in the image.
    let height: Int
    /// The distance between rows.
    let stride: Int
    /// The number of sample rows in a row of MCUs.
    let bandRows: Int
    /// The capacity in sample rows.
    let storedRows: Int
    /// The offset of the first sample.
    let start: Int
    /// The upsampling method.
    let upsampling: JPEGUpsampling
    /// The offset of the row that receives the upsampled samples.
    let upsampledRow: Int
    /// The number of samples in each direction for as many pixels as the MCU has blocks.
    let horizontal: Int
    let vertical: Int

    /// Returns the offset of a row, or of the last row if there are fewer.
    @inline(__always)
    func start(ofRow row: Int) -> Int {
        start + min(max(0, row), height - 1) % storedRows * stride
    }

    /// Returns the offset of a row of MCUs.
    @inline(__always)
    func start(ofBand band: Int) -> Int {
        start + band * bandRows % storedRows * stride
    }

    /// Repeats the last sample of each row, for code that reads the next sample.
    func extendRows(ofBand band: Int, _ samples: inout MutableSpan<UInt8>) {
        var end = start(ofBand: band) + width
        for _ in 0..<bandRows {
            samples[end] = samples[end - 1]
            end += stride
        }
    }
}
