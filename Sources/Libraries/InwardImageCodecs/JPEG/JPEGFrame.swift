import InwardImages

/// A frame header (T.81 annex B.2.2).
struct JPEGFrame {
    /// The image size.
    let size: ImageSize
    /// Whether scans refine each other.
    let isProgressive: Bool
    /// The components in header order.
    let components: [JPEGComponent]
    /// The maximum sampling factors.
    let horizontal: Int
    let vertical: Int
    /// The number of MCUs in a row, and the number of rows, in a scan with all components.
    let mcusAcross: Int
    let mcusDown: Int

    /// Reads the segment of a frame header.
    ///
    /// - Throws: An error if the header is invalid or uses an unsupported feature.
    init(_ marker: UInt8, _ data: Span<UInt8>, _ segment: Range<Int>) throws(ImageCodecError) {
        let start = segment.lowerBound
        if let obstacle = JPEGMarker.obstacle(to: marker) {
            throw .unsupportedJPEG("\(obstacle), which JPEGCodec does not support")
        }
        guard segment.count >= 6 else { throw .damagedJPEG("has a frame header that is too short, at byte \(start)") }
        let precision = data[start]
        guard precision == 8 else {
            throw precision == 12
                ? .unsupportedJPEG("has samples of 12 bits, which JPEGCodec does not support")
                : .damagedJPEG("has samples of \(precision) bits, at byte \(start)")
        }
        let height = Int(data[start + 1]) << 8 | Int(data[start + 2])
        let width = Int(data[start + 3]) << 8 | Int(data[start + 4])
        guard height > 0 else {
            throw .unsupportedJPEG("states its height only after a scan (DNL), which JPEGCodec does not support")
        }
        guard let size = ImageSize(width: width, height: height) else {
            throw .damagedJPEG("is 0 pixels wide, at byte \(start + 3)")
        }
        let count = Int(data[start + 5])
        guard segment.count == 6 + 3 * count, count > 0 else {
            throw .damagedJPEG("has a frame header of \(segment.count) bytes for \(count) components, at byte \(start)")
        }
        guard count == 1 || count == 3 || count == 4 else {
            throw .unsupportedJPEG("has \(count) components, and JPEGCodec supports only 1, 3 or 4")
        }
        var components: [JPEGComponent] = []
        for index in 0..<count {
            components.append(try Self.component(in: data, at: start + 6 + 3 * index, isAlone: count == 1))
        }
        guard Set(components.map(\.identifier)).count == count else {
            throw .damagedJPEG("has two components with the same identifier, at byte \(start)")
        }
        let horizontal = components.map(\.horizontal).max() ?? 1
        let vertical = components.map(\.vertical).max() ?? 1
        mcusAcross = size.divided(by: 8 * horizontal).width
        mcusDown = size.divided(by: 8 * vertical).height
        var firstBlock = 0
        for index in components.indices {
            let sides = (components[index].horizontal, components[index].vertical)
            components[index].blocksAcross = (size.width * sides.0 + 8 * horizontal - 1) / (8 * horizontal)
            components[index].blocksDown = (size.height * sides.1 + 8 * vertical - 1) / (8 * vertical)
            components[index].storedBlocksAcross = mcusAcross * sides.0
            components[index].storedBlocksDown = mcusDown * sides.1
            components[index].firstBlock = firstBlock
            firstBlock += components[index].storedBlocks
        }
        isProgressive = marker == JPEGMarker.progressiveFrame
        self.size = size
        self.components = components
        self.horizontal = horizontal
        self.vertical = vertical
    }

    /// The total number of blocks in all components.
    var blocks: Int { components.reduce(0) { $0 + $1.storedBlocks } }

    private static func component(
        in data: Span<UInt8>,
        at start: Int,
        isAlone: Bool
    ) throws(ImageCodecError) -> JPEGComponent {
        let horizontal = Int(data[start + 1] >> 4)
        let vertical = Int(data[start + 1] & 15)
        guard (1...4).contains(horizontal), (1...4).contains(vertical) else {
            throw .damagedJPEG("has the invalid sampling factors \(horizontal)×\(vertical), at byte \(start + 1)")
        }
        let quantization = Int(data[start + 2])
        guard quantization < 4 else {
            throw .damagedJPEG("refers to the invalid quantization table \(quantization), at byte \(start + 2)")
        }
        // A single component is never interleaved, so its sampling factors have no effect (A.2.2).
        return JPEGComponent(
            identifier: data[start],
            horizontal: isAlone ? 1 : horizontal,
            vertical: isAlone ? 1 : vertical,
            quantization: quantization
        )
    }
}

/// A component of an image, and the layout of its samples in 8×8 blocks (T.81 annex A).
struct JPEGComponent {
    /// The identifier that scans use.
    let identifier: UInt8
    /// The number of blocks side by side in an MCU, from 1 to 4.
    let horizontal: Int
    /// The number of blocks above each other in an MCU, from 1 to 4.
    let vertical: Int
    /// The number of the quantization table, from 0 to 3.
    let quantization: Int

    /// The number of blocks in a row in a scan of only this component, which has no blocks outside the image.
    var blocksAcross = 0
    /// The number of block rows in a scan of only this component.
    var blocksDown = 0
    /// The number of blocks in a row, rounded up to complete MCUs.
    var storedBlocksAcross = 0
    /// The number of block rows, rounded up to complete MCUs.
    var storedBlocksDown = 0
    /// The index of the first block among those of all components.
    var firstBlock = 0

    /// The total number of blocks in complete MCUs.
    var storedBlocks: Int { storedBlocksAcross * storedBlocksDown }
}

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
        // Other decoders choose in the same way, except for very small images and for blocks of one sample.
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

/// The location of a component's samples during decoding. Memory holds one row of MCUs, and the previous one if upsampling
/// needs it.
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
    /// The number of samples, across and down, that cover a group of pixels. The sides of the group are the frame's maximum
    /// sampling factors.
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
