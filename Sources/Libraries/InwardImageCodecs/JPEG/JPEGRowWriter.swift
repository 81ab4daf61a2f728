import InwardImages

/// Makes the rows of a picture from the samples of its components.
struct JPEGRowWriter {
    private let layout: JPEGLayout
    private let converter: JPEGColorConverter
    private var nextRow = 0

    init(_ layout: JPEGLayout, _ model: JPEGColorModel) {
        self.layout = layout
        converter = JPEGColorConverter(model)
    }

    /// Writes the rows that can be made once a row of MCUs is there, and all before it.
    mutating func write(
        afterBand band: Int,
        isLast: Bool,
        _ samples: inout MutableSpan<UInt8>,
        to pixels: inout MutableSpan<UInt8>
    ) {
        for plane in layout.planes where plane.upsampling != .none {
            plane.extendRows(ofBand: band, &samples)
        }
        let end = isLast ? layout.size.height : (band + 1) * layout.bandRows - layout.delayedRows
        while nextRow < min(end, layout.size.height) {
            converter.write(
                &samples,
                from: SIMD4(rows: layout.planes.map { start(of: $0, &samples) }),
                count: layout.size.width,
                to: &pixels,
                at: nextRow * layout.size.width * 4
            )
            nextRow += 1
        }
    }

    /// Where as many samples of a component begin as the next row has pixels.
    private func start(of plane: JPEGPlane, _ samples: inout MutableSpan<UInt8>) -> Int {
        let row = nextRow * plane.vertical / layout.vertical
        let near = plane.start(ofRow: row)
        switch plane.upsampling {
        case .none: return near
        case .repeated:
            for column in 0..<layout.size.width {
                samples[plane.upsampledRow + column] = samples[near + column * plane.horizontal / layout.horizontal]
            }
        default:
            let isUpper = nextRow % 2 == 0
            plane.upsampling.write(
                &samples,
                near: near,
                far: plane.start(ofRow: isUpper ? row - 1 : row + 1),
                isUpper: isUpper,
                count: plane.width,
                to: plane.upsampledRow
            )
        }
        return plane.upsampledRow
    }
}

extension SIMD4<Int> {
    fileprivate init(rows: [Int]) {
        self.init(repeating: 0)
        for (index, row) in rows.prefix(4).enumerated() { self[index] = row }
    }
}
