extension TextOutline {
    /// Draws the outline in one color at a size. The alpha of each pixel is its coverage.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func image(size: ImageSize, color: Color) throws(CancellationError) -> Image {
        try Image(size: size) { pixels throws(CancellationError) in
            for glyph in glyphs {
                var edges = GlyphEdges(scaleX: Double(size.width) / width, scaleY: Double(size.height) / height)
                edges.add(glyph)
                try edges.addCoverage(to: &pixels, of: size)
            }
            var index = 0
            while index < pixels.count {
                let coverage = Int(pixels[index + 3])
                if coverage > 0 {
                    pixels[index] = color.red
                    pixels[index + 1] = color.green
                    pixels[index + 2] = color.blue
                    pixels[index + 3] = UInt8((coverage * Int(color.alpha) + 127) / 255)
                }
                index += Image.bytesPerPixel
            }
        }
    }
}

/// The edges of a glyph in pixels, with its curves divided into lines.
private struct GlyphEdges {
    typealias Point = TextOutline.Point

    /// The number of rows that are rasterized together. Cancellation is checked between them.
    private static let bandHeight = 8
    /// The maximum distance between a curve and its lines, in pixels.
    private static let tolerance = 0.05
    /// The maximum number of lines of a curve.
    private static let maximumLineCount = 256.0

    let scaleX: Double
    let scaleY: Double
    private var edges: [(from: Point, to: Point)] = []

    init(scaleX: Double, scaleY: Double) {
        self.scaleX = scaleX
        self.scaleY = scaleY
    }

    mutating func add(_ glyph: TextOutline.Glyph) {
        var start = Point(x: 0, y: 0)
        var current = start
        for segment in glyph {
            switch segment {
            case .move(let point):
                addLine(from: current, to: start)
                current = scaled(point)
                start = current
            case .line(let point):
                let end = scaled(point)
                addLine(from: current, to: end)
                current = end
            case .quadratic(let point, let control):
                // The cubic curve with the same points.
                let (end, control) = (scaled(point), scaled(control))
                let control1 = Self.between(current, control, 2.0 / 3)
                addCubic(from: current, control1, Self.between(end, control, 2.0 / 3), to: end)
                current = end
            case .cubic(let point, let control1, let control2):
                let end = scaled(point)
                addCubic(from: current, scaled(control1), scaled(control2), to: end)
                current = end
            }
        }
        addLine(from: current, to: start)
    }

    private mutating func addLine(from start: Point, to end: Point) {
        if start != end { edges.append((start, end)) }
    }

    private mutating func addCubic(from start: Point, _ control1: Point, _ control2: Point, to end: Point) {
        // A line over 1/n of the curve deviates by at most 1/8n² of the second derivative, which is largest at one end.
        let bend = max(Self.bend(start, control1, control2), Self.bend(control1, control2, end))
        let count = (6 * bend / 8 / Self.tolerance).squareRoot().rounded(.up)
        let lineCount = Int(min(max(1, count), Self.maximumLineCount))
        var last = start
        for number in 1...lineCount {
            let t = Double(number) / Double(lineCount)
            let (a, b, c) = (
                Self.between(start, control1, t), Self.between(control1, control2, t), Self.between(control2, end, t)
            )
            let point = Self.between(Self.between(a, b, t), Self.between(b, c, t), t)
            addLine(from: last, to: number == lineCount ? end : point)
            last = point
        }
    }

    /// Returns the second difference of three points.
    private static func bend(_ first: Point, _ second: Point, _ third: Point) -> Double {
        let x = first.x - 2 * second.x + third.x
        let y = first.y - 2 * second.y + third.y
        return max(abs(x), abs(y))
    }

    private func scaled(_ point: Point) -> Point { Point(x: point.x * scaleX, y: point.y * scaleY) }

    private static func between(_ first: Point, _ second: Point, _ t: Double) -> Point {
        Point(x: first.x + (second.x - first.x) * t, y: first.y + (second.y - first.y) * t)
    }
}

extension GlyphEdges {
    /// Adds the coverage of the glyph to the alpha of pixels. Where glyphs meet within a pixel, their coverages add up.
    func addCoverage(to pixels: inout MutableSpan<UInt8>, of size: ImageSize) throws(CancellationError) {
        let ends = edges.lazy.flatMap { [$0.from, $0.to] }
        guard let left = ends.map(\.x).min(), let right = ends.map(\.x).max(), let top = ends.map(\.y).min(),
            let bottom = ends.map(\.y).max()
        else { return }
        let columns = max(0, Int(left))..<min(size.width, max(0, Int(left)) + 1 + Int(right - left) + 1)
        let rows = max(0, Int(top))..<min(size.height, Int(bottom.rounded(.up)))
        guard !columns.isEmpty else { return }
        for first in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.bandHeight) {
            if Task.isCancelled { throw CancellationError() }
            var band = CoverageBand(columns: columns, rows: first..<min(first + Self.bandHeight, rows.upperBound))
            for edge in edges { band.add(from: edge.from, to: edge.to) }
            band.addCoverage(to: &pixels, imageWidth: size.width)
        }
    }
}

/// The exact coverage of the pixels of some rows by a glyph.
///
/// Each edge adds the signed area to its right to the pixels that it crosses, as a difference to the pixel on the left. The sum of
/// a row up to a pixel is then the winding number there, averaged over the pixel.
private struct CoverageBand {
    typealias Point = TextOutline.Point

    private let columns: Range<Int>
    private let rows: Range<Int>
    /// Two more than the columns, because an edge also affects the pixel on its right.
    private let stride: Int
    private var differences: [Double]

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = rows
        stride = columns.count + 2
        differences = [Double](repeating: 0, count: stride * rows.count)
    }

    mutating func add(from start: Point, to end: Point) {
        guard start.y != end.y else { return }
        let direction = start.y < end.y ? 1.0 : -1.0
        let (upper, lower) = start.y < end.y ? (start, end) : (end, start)
        let slope = (lower.x - upper.x) / (lower.y - upper.y)
        let top = max(upper.y, Double(rows.lowerBound))
        let bottom = min(lower.y, Double(rows.upperBound))
        guard top < bottom else { return }
        for row in Int(top)..<Int(bottom.rounded(.up)) {
            let (y, nextY) = (max(top, Double(row)), min(bottom, Double(row + 1)))
            let (x, nextX) = (column(upper.x + (y - upper.y) * slope), column(upper.x + (nextY - upper.y) * slope))
            add((nextY - y) * direction, from: min(x, nextX), to: max(x, nextX), at: (row - rows.lowerBound) * stride)
        }
    }

    /// Returns a distance from the first column. It is limited because of rounding errors.
    private func column(_ x: Double) -> Double { min(max(0, x - Double(columns.lowerBound)), Double(columns.count)) }

    /// Adds an edge of a height, from one distance to another, in the row that begins at an index.
    private mutating func add(_ height: Double, from left: Double, to right: Double, at row: Int) {
        let first = Int(left)
        guard right > Double(first + 1) else {
            // Within a pixel, the area to the right of the edge is a trapezoid.
            let covered = 1 - ((left + right) / 2 - Double(first))
            differences[row + first] += height * covered
            differences[row + first + 1] += height * (1 - covered)
            return
        }
        // The total area to the right of the edge up to the right side of each pixel, minus that of the pixel before it.
        var before = 0.0
        var previousShare = 0.0
        for pixel in first..<Int(right.rounded(.up)) {
            let (from, to) = (max(left, Double(pixel)), min(right, Double(pixel + 1)))
            let share = (to - from) / (right - left)
            // The part of the edge in this pixel covers a triangle in it, and the parts to its left all of it.
            let covered = previousShare + share * (Double(pixel + 1) - (from + to) / 2)
            differences[row + pixel] += height * (covered - before)
            before = covered
            previousShare += share
        }
        differences[row + Int(right.rounded(.up))] += height * (1 - before)
    }

    func addCoverage(to pixels: inout MutableSpan<UInt8>, imageWidth: Int) {
        for (number, row) in rows.enumerated() {
            var winding = 0.0
            for (offset, column) in columns.enumerated() {
                winding += differences[number * stride + offset]
                let coverage = Int((min(abs(winding), 1) * 255).rounded())
                guard coverage > 0 else { continue }
                let alpha = (row * imageWidth + column) * Image.bytesPerPixel + 3
                pixels[alpha] = UInt8(min(Int(pixels[alpha]) + coverage, 255))
            }
        }
    }
}
