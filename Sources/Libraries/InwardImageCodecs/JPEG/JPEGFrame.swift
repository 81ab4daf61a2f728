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
    /// - Throws: an error if the header is invalid or uses an unsupported feature.
    init(_ marker: UInt8, _ data: Span<UInt8>, _ segment: Range<Int>) throws(ImageCodecError) {
        let start = segment.lowerBound
        if let obstacle = JPEGMarker.obstacle(to: marker) {
            throw .unsupportedJPEG("\(obstacle), which is not read here")
        }
        guard segment.count >= 6 else { throw .damagedJPEG("has a frame header that is too short, at byte \(start)") }
        let precision = data[start]
        guard precision == 8 else {
            throw precision == 12
                ? .unsupportedJPEG("has samples of 12 bits, which are not read here")
                : .damagedJPEG("has samples of \(precision) bits, at byte \(start)")
        }
        let height = Int(data[start + 1]) << 8 | Int(data[start + 2])
        let width = Int(data[start + 3]) << 8 | Int(data[start + 4])
        guard height > 0 else {
            throw .unsupportedJPEG("says only after its first scan how many rows it has (DNL), which is not read here")
        }
        guard let size = ImageSize(width: width, height: height) else {
            throw .damagedJPEG("is 0 pixels wide, at byte \(start + 3)")
        }
        let count = Int(data[start + 5])
        guard segment.count == 6 + 3 * count, count > 0 else {
            throw .damagedJPEG("has a frame header of \(segment.count) bytes for \(count) components, at byte \(start)")
        }
        guard count == 1 || count == 3 || count == 4 else {
            throw .unsupportedJPEG("has \(count) components, which are not read here")
        }
        var components: [JPEGComponent] = []
        for index in 0..<count {
            components.append(try Self.component(in: data, at: start + 6 + 3 * index, isAlone: count == 1))
        }
        guard Set(components.map(\.identifier)).count == count else {
            throw .damagedJPEG("has two components of one name, at byte \(start)")
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
            throw .damagedJPEG("has sampling factors \(horizontal)×\(vertical), at byte \(start + 1)")
        }
        let quantization = Int(data[start + 2])
        guard quantization < 4 else {
            throw .damagedJPEG("refers to a quantization table \(quantization), at byte \(start + 2)")
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
    /// The number of blocks in a row with complete MCUs.
    var storedBlocksAcross = 0
    /// The number of block rows with complete MCUs.
    var storedBlocksDown = 0
    /// The index of the first block among those of all components.
    var firstBlock = 0

    /// The number of blocks with complete MCUs.
    var storedBlocks: Int { storedBlocksAcross * storedBlocksDown }
}
