import InwardImages

/// A writer of the rows of an image, from the samples of its components.
struct JPEGRowWriter {
    private let layout: JPEGLayout
    private let converter: JPEGColorConverter
    /// The first row that is written.
    private let firstRow: Int
    private var nextRow: Int

    init(_ layout: JPEGLayout, _ model: JPEGColorModel, from row: Int = 0) {
        self.layout = layout
        converter = JPEGColorConverter(model)
        firstRow = row
        nextRow = row
    }

    /// Writes all rows that are complete after a row of MCUs, as far as there is space for them.
    mutating func write(
        afterBand band: Int,
        isLast: Bool,
        _ samples: inout MutableSpan<UInt8>,
        to pixels: inout MutableSpan<UInt8>
    ) {
        for plane in layout.planes where plane.upsampling != .none {
            plane.extendRows(ofBand: band, &samples)
        }
        let complete = isLast ? layout.size.height : (band + 1) * layout.bandRows - layout.delayedRows
        let end = min(complete, layout.size.height, firstRow + pixels.count / (4 * layout.size.width))
        while nextRow < end {
            converter.write(
                &samples,
                from: SIMD4(rows: layout.planes.map { start(of: $0, &samples) }),
                count: layout.size.width,
                to: &pixels,
                at: (nextRow - firstRow) * layout.size.width * 4
            )
            nextRow += 1
        }
    }

    /// Returns the offset of a component's samples for the next row, one for each pixel.
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

/// The method that upsamples a component to the size of the image.
///
/// Components with half as many samples use a triangle filter, as in most decoders. Samples lie between the pixels, so each
/// pixel gets three quarters of the nearest sample and one quarter of the next nearest. Otherwise, samples are repeated.
enum JPEGUpsampling {
    /// The component has the image's size.
    case none
    /// The component has half the width.
    case across
    /// The component has half the height.
    case down
    /// The component has half the width and half the height.
    case both
    /// The component has another ratio, or is too small for interpolation.
    case repeated

    /// Whether the rows above and below are required.
    var needsNextRow: Bool { self == .down || self == .both }

    /// Writes a row of upsampled samples.
    ///
    /// - Parameters:
    ///   - samples: The component's samples, and the output row.
    ///   - near: The offset of the nearest row of the component.
    ///   - far: The offset of the next nearest row.
    ///   - isUpper: Whether the output row lies above the nearest one.
    ///   - count: The number of samples in a row of the component. Each row is followed by one additional sample and some spare
    ///     space.
    ///   - row: The offset of the output row.
    func write(
        _ samples: inout MutableSpan<UInt8>,
        near: Int,
        far: Int,
        isUpper: Bool,
        count: Int,
        to row: Int
    ) {
        switch self {
        case .none, .repeated: break
        case .across: Self.writeAcross(&samples, from: near, count: count, to: row)
        case .down: Self.writeDown(&samples, near: near, far: far, rounding: isUpper ? 1 : 2, count: count, to: row)
        case .both: Self.writeBoth(&samples, near: near, far: far, count: count, to: row)
        }
    }

    @inline(never)
    private static func writeAcross(
        _ samples: inout MutableSpan<UInt8>,
        from near: Int,
        count: Int,
        to row: Int
    ) {
        var current = samples.eightLevels(at: near)
        var previous = current[0]
        var index = 0
        while index < count {
            let next = samples.eightLevels(at: near &+ index &+ 8)
            let tripled = current &* 3
            samples.store(
                alternating: (tripled &+ delayed(current, previous) &+ 1) &>> 2,
                (tripled &+ advanced(current, next[0]) &+ 2) &>> 2,
                at: row &+ 2 &* index
            )
            previous = current[7]
            current = next
            index &+= 8
        }
    }

    @inline(never)
    private static func writeDown(
        _ samples: inout MutableSpan<UInt8>,
        near: Int,
        far: Int,
        rounding: Int16,
        count: Int,
        to row: Int
    ) {
        var index = 0
        while index < count {
            let sum = samples.eightLevels(at: near &+ index) &* 3 &+ samples.eightLevels(at: far &+ index)
            samples.store(clamping: (sum &+ rounding) &>> 2, at: row &+ index)
            index &+= 8
        }
    }

    @inline(never)
    private static func writeBoth(
        _ samples: inout MutableSpan<UInt8>,
        near: Int,
        far: Int,
        count: Int,
        to row: Int
    ) {
        var current = samples.eightLevels(at: near) &* 3 &+ samples.eightLevels(at: far)
        var previous = current[0]
        var index = 0
        while index < count {
            let following = index &+ 8
            let next = samples.eightLevels(at: near &+ following) &* 3 &+ samples.eightLevels(at: far &+ following)
            let tripled = current &* 3
            samples.store(
                alternating: (tripled &+ delayed(current, previous) &+ 8) &>> 4,
                (tripled &+ advanced(current, next[0]) &+ 7) &>> 4,
                at: row &+ 2 &* index
            )
            previous = current[7]
            current = next
            index = following
        }
    }

    /// Returns the lanes shifted by one, with a given first lane.
    @inline(__always)
    private static func delayed(_ lanes: SIMD8<Int16>, _ first: Int16) -> SIMD8<Int16> {
        SIMD8(first, lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6])
    }

    /// Returns the lanes shifted back by one, with a given last lane.
    @inline(__always)
    private static func advanced(_ lanes: SIMD8<Int16>, _ last: Int16) -> SIMD8<Int16> {
        SIMD8(lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7], last)
    }
}
