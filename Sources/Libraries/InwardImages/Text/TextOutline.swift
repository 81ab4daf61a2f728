/// The outlines of the glyphs of a line of text, which can be drawn sharply at any size.
///
/// ```swift
/// let points = [(0.0, 20.0), (10, 0), (20, 20)].map { TextOutline.Point(x: $0.0, y: $0.1) }
/// let triangle: TextOutline.Glyph = [.move(to: points[0]), .line(to: points[1]), .line(to: points[2])]
/// if let outline = TextOutline(glyphs: [triangle], width: 20, height: 20) {
///     loader.addPlugin(Watermark(.outline(outline, .white)))
/// }
/// ```
///
/// A ``Typesetter`` makes it from a text. It is a value that contains everything that is drawn, so that equal outlines look the
/// same, whatever fonts are installed.
public struct TextOutline: Hashable, Sendable {
    /// A point, with the origin at the top left and without a unit.
    public struct Point: Hashable, Sendable {
        /// The distance from the left edge.
        public var x: Double
        /// The distance from the top edge.
        public var y: Double

        /// Creates a point.
        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// A segment of a contour. It begins where the previous one ends.
    public enum Segment: Hashable, Sendable {
        /// Closes the current contour with a line, and begins another one.
        case move(to: Point)
        /// A line.
        case line(to: Point)
        /// A quadratic Bézier curve.
        case quadratic(to: Point, control: Point)
        /// A cubic Bézier curve.
        case cubic(to: Point, control1: Point, control2: Point)
    }

    /// The closed contours of a glyph. A point is inside if they wind around it (the nonzero rule).
    public typealias Glyph = [Segment]

    /// The maximum number of segments of all glyphs, 131,072.
    public static let maximumSegmentCount = 131_072

    /// The glyphs, from left to right. They are drawn one over the other.
    public let glyphs: [Glyph]
    /// The width, in the unit of the points.
    public let width: Double
    /// The height, in the unit of the points.
    public let height: Double

    /// Creates an outline from glyphs, or returns `nil` if a side is less than a millionth, if there are too many segments, or if a number
    /// is not finite or is beyond a million.
    ///
    /// If a glyph extends beyond the sides, the outline is larger, so that nothing is cut off.
    ///
    /// - Parameters:
    ///   - glyphs: The glyphs, from left to right.
    ///   - width: The width of the line.
    ///   - height: The height of the line, from its ascent to its descent.
    public init?(glyphs: [Glyph], width: Double, height: Double) {
        guard width >= 1e-6, height >= 1e-6, glyphs.reduce(0, { $0 + $1.count }) <= Self.maximumSegmentCount else {
            return nil
        }
        var (left, top, right, bottom) = (0.0, 0.0, width, height)
        for point in glyphs.lazy.joined().flatMap(\.points) {
            // False for NaN.
            guard abs(point.x) <= 1e6, abs(point.y) <= 1e6 else { return nil }
            (left, right) = (min(left, point.x), max(right, point.x))
            (top, bottom) = (min(top, point.y), max(bottom, point.y))
        }
        guard right <= 1e6, bottom <= 1e6 else { return nil }
        self.width = right - left
        self.height = bottom - top
        self.glyphs = left == 0 && top == 0 ? glyphs : glyphs.map { $0.map { $0.moved(x: -left, y: -top) } }
    }

    /// The number of bytes that the segments occupy.
    var byteCount: Int { glyphs.reduce(0) { $0 + $1.count * MemoryLayout<Segment>.stride } }

    /// Whether nothing is drawn, as for a space.
    var isEmpty: Bool { glyphs.allSatisfy(\.isEmpty) }
}

extension TextOutline.Segment {
    fileprivate var points: [TextOutline.Point] {
        switch self {
        case .move(let point), .line(let point): [point]
        case .quadratic(let point, let control): [point, control]
        case .cubic(let point, let control1, let control2): [point, control1, control2]
        }
    }

    fileprivate func moved(x: Double, y: Double) -> Self {
        func moved(_ point: TextOutline.Point) -> TextOutline.Point {
            TextOutline.Point(x: point.x + x, y: point.y + y)
        }
        return switch self {
        case .move(let point): .move(to: moved(point))
        case .line(let point): .line(to: moved(point))
        case .quadratic(let point, let control): .quadratic(to: moved(point), control: moved(control))
        case .cubic(let point, let control1, let control2):
            .cubic(to: moved(point), control1: moved(control1), control2: moved(control2))
        }
    }
}
