import InwardImages

/// How the samples of an image lie while it is decoded, all in one piece of memory.
struct JPEGLayout {
    /// The size of the image that comes out.
    let size: ImageSize
    /// What the sides are divided by.
    let reduction: Int
    /// The samples of each component.
    let planes: [JPEGPlane]
    /// How many rows of pixels a row of MCUs has.
    let bandRows: Int
    /// How many of them can only be made when the next row of MCUs is there.
    let delayedRows: Int
    /// How many samples there is room for.
    let sampleCount: Int
    /// The greatest sampling factors.
    let horizontal: Int
    let vertical: Int

    /// Lays out the samples of a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - reduction: What the sides are divided by: 1, 2, 4 or 8.
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
        // Vectors reach beyond the end of a row.
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

    /// How many samples the side of a block has: where the image is reduced, a component that has fewer samples is so less.
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
        // Others do it so too: not for very small images, nor where a block is one sample.
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

/// Where the samples of a component lie while an image is decoded: those of a row of MCUs, and of the one before if the rows of
/// the image need it.
struct JPEGPlane {
    /// How many samples the side of a block has: 8, or fewer where the image is reduced.
    let blockSize: Int
    /// How many samples there are in a row of the image.
    let width: Int
    /// How many rows of samples there are in the image.
    let height: Int
    /// How far a row is from the next.
    let stride: Int
    /// How many rows of samples a row of MCUs has.
    let bandRows: Int
    /// How many rows of samples there is room for.
    let storedRows: Int
    /// Where the first sample is.
    let start: Int
    /// How the samples become as many as there are pixels.
    let upsampling: JPEGUpsampling
    /// Where the row is that they are written to then.
    let upsampledRow: Int
    /// How many samples of a row there are for as many pixels as the MCU has blocks, in the two directions.
    let horizontal: Int
    let vertical: Int

    /// Where a row of samples begins, or the last one if there are not as many.
    @inline(__always)
    func start(ofRow row: Int) -> Int {
        start + min(max(0, row), height - 1) % storedRows * stride
    }

    /// Where a row of MCUs begins.
    @inline(__always)
    func start(ofBand band: Int) -> Int {
        start + band * bandRows % storedRows * stride
    }

    /// Puts a copy of the last sample of each row behind it, for those who look for the next one.
    func extendRows(ofBand band: Int, _ samples: inout MutableSpan<UInt8>) {
        var end = start(ofBand: band) + width
        for _ in 0..<bandRows {
            samples[end] = samples[end - 1]
            end += stride
        }
    }
}
