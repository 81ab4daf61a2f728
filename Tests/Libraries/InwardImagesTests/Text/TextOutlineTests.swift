import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import InwardImages

struct TextOutlineTests {
    typealias Point = TextOutline.Point

    /// Returns a closed contour through points.
    private func contour(_ points: [(Double, Double)]) -> TextOutline.Glyph {
        points.enumerated().map { index, point in
            let point = Point(x: point.0, y: point.1)
            return index == 0 ? .move(to: point) : .line(to: point)
        }
    }

    private func rectangle(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> TextOutline.Glyph {
        contour([(left, top), (right, top), (right, bottom), (left, bottom)])
    }

    /// Returns the alpha of each pixel of an outline that is drawn at its own size or at another.
    private func alphas(
        _ glyphs: [TextOutline.Glyph],
        _ width: Double,
        _ height: Double,
        size: ImageSize? = nil
    ) throws -> [UInt8] {
        let outline = try #require(TextOutline(glyphs: glyphs, width: width, height: height))
        let size = size ?? ImageSize(clamping: Int(width), Int(height))
        let image = try outline.image(size: size, color: .white)
        return stride(from: 3, to: image.bytes.count, by: 4).map { image.bytes[$0] }
    }

    @Test func pixelsHaveTheirCoverage() throws {
        #expect(try alphas([rectangle(1, 1, 3, 2)], 4, 3) == [0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0])
        #expect(try alphas([rectangle(0.5, 0.25, 1.75, 1)], 3, 1) == [96, 143, 0])
        #expect(
            try alphas([contour([(0, 0), (4, 0), (0, 4)])], 4, 4) == [
                255, 255, 255, 128, 255, 255, 128, 0, 255, 128, 0, 0, 128, 0, 0, 0,
            ]
        )
    }

    @Test func directionOfAContourDoesNotMatter() throws {
        let points = [(0.3, 0.2), (6.9, 2.1), (3.3, 7.7)]
        #expect(try alphas([contour(points)], 8, 8) == alphas([contour(points.reversed())], 8, 8))
    }

    @Test func innerContourInTheOtherDirectionIsAHole() throws {
        let hole = contour([(1, 1), (1, 2), (2, 2), (2, 1)])
        #expect(try alphas([rectangle(0, 0, 3, 3) + hole], 3, 3) == [255, 255, 255, 255, 0, 255, 255, 255, 255])
        // In the same direction, it is covered twice.
        #expect(try alphas([rectangle(0, 0, 3, 3) + rectangle(1, 1, 2, 2)], 3, 3).allSatisfy { $0 == 255 })
    }

    @Test func glyphsThatMeetHaveNoSeam() throws {
        let glyphs = [rectangle(0, 0, 1.5, 1), rectangle(1.5, 0, 3, 1)]
        #expect(try alphas(glyphs, 3, 1) == [255, 255, 255])
        // Opposite directions of fonts do not cancel each other.
        let other = contour([(0, 0), (0, 1), (3, 1), (3, 0)])
        #expect(try alphas([rectangle(0, 0, 3, 1), other], 3, 1) == [255, 255, 255])
    }

    @Test(arguments: [10, 64, 500])
    func curvesAreRound(diameter: Int) throws {
        let k = 0.552_284_75
        func point(_ x: Double, _ y: Double) -> Point { Point(x: 1 + x, y: 1 + y) }
        let cubic: TextOutline.Glyph = [
            .move(to: point(1, 0)),
            .cubic(to: point(0, 1), control1: point(1, k), control2: point(k, 1)),
            .cubic(to: point(-1, 0), control1: point(-k, 1), control2: point(-1, k)),
            .cubic(to: point(0, -1), control1: point(-1, -k), control2: point(-k, -1)),
            .cubic(to: point(1, 0), control1: point(k, -1), control2: point(1, -k)),
        ]
        let size = ImageSize(clamping: diameter, diameter)
        let area = try alphas([cubic], 2, 2, size: size).reduce(0) { $0 + Double($1) } / 255
        let radius = Double(diameter) / 2
        #expect(abs(area / (.pi * radius * radius) - 1) < 0.015)
        // A parabola covers two thirds of its rectangle, which is half of the image.
        let quadratic: TextOutline.Glyph = [
            .move(to: Point(x: 0, y: 2)), .quadratic(to: Point(x: 2, y: 2), control: Point(x: 1, y: 0)),
        ]
        let covered = try alphas([quadratic], 2, 2, size: size).reduce(0) { $0 + Double($1) } / 255
        #expect(abs(covered / Double(size.pixelCount) - 1.0 / 3) < 0.01)
    }

    /// The other side of a glyph that is scaled up is as sharp as it was, so that no pixel is gray.
    @Test func outlineIsSharpAtAnySize() throws {
        for scale in [1, 7, 100] {
            let size = ImageSize(clamping: 4 * scale, 4 * scale)
            let alphas = try alphas([rectangle(1, 1, 3, 2)], 4, 4, size: size)
            #expect(alphas.count { $0 == 255 } == 2 * scale * scale && alphas.allSatisfy { $0 == 0 || $0 == 255 })
        }
    }

    @Test func coverageAgreesWithManySamples() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("coverageAgreesWithManySamples: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 12 : 4) {
            let points = (0..<3).map { _ in
                (Double.random(in: 0...12, using: &random), Double.random(in: 0...20, using: &random))
            }
            let alphas = try alphas([contour(points)], 12, 20)
            for y in 0..<20 {
                for x in 0..<12 {
                    let samples = (0..<256).count { number in
                        let place = (
                            Double(x) + (Double(number % 16) + 0.5) / 16, Double(y) + (Double(number / 16) + 0.5) / 16
                        )
                        return isInside(place, points)
                    }
                    #expect(abs(Int(alphas[y * 12 + x]) - samples * 255 / 256) <= 20, "\(points) at \(x), \(y)")
                }
            }
        }
    }

    private func isInside(_ place: (Double, Double), _ points: [(Double, Double)]) -> Bool {
        // All sides have the place on their right, or none has.
        let count = points.indices.count { index in
            let (a, b) = (points[index], points[(index + 1) % points.count])
            return (b.0 - a.0) * (place.1 - a.1) - (b.1 - a.1) * (place.0 - a.0) > 0
        }
        return count == 0 || count == points.count
    }

    @Test func randomOutlinesAreDrawnAtAnySize() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("randomOutlinesAreDrawnAtAnySize: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Thoroughness.isExhaustive ? 500 : 120) {
            let range = [1, 1e-3, 1e6][Int.random(in: 0..<3, using: &random)]
            func point() -> Point {
                Point(x: .random(in: -range...range, using: &random), y: .random(in: -range...range, using: &random))
            }
            let glyphs: [TextOutline.Glyph] = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    switch Int.random(in: 0...3, using: &random) {
                    case 0: .move(to: point())
                    case 1: .line(to: point())
                    case 2: .quadratic(to: point(), control: point())
                    default: .cubic(to: point(), control1: point(), control2: point())
                    }
                }
            }
            guard let outline = TextOutline(glyphs: glyphs, width: range / 2, height: range / 3) else { continue }
            let sides = (Int.random(in: 1...40, using: &random), Int.random(in: 1...40, using: &random))
            let size = ImageSize(clamping: sides.0, sides.1)
            #expect(try outline.image(size: size, color: .white).size == size)
        }
    }

    @Test func glyphsBeyondTheSidesEnlargeThem() throws {
        let outline = try #require(TextOutline(glyphs: [rectangle(-1, -2, 5, 9)], width: 4, height: 3))
        #expect(outline.width == 6 && outline.height == 11)
        #expect(outline.glyphs == [rectangle(0, 0, 6, 11)])
        #expect(try alphas([rectangle(-1, -1, 1, 1)], 1, 1, size: ImageSize(clamping: 2, 2)).allSatisfy { $0 == 255 })
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e7, -1e7])
    func numbersThatCannotBeDrawnAreRefused(number: Double) {
        #expect(TextOutline(glyphs: [[.move(to: Point(x: number, y: 0))]], width: 1, height: 1) == nil)
        let curve = TextOutline.Segment.cubic(
            to: Point(x: 0, y: 0),
            control1: Point(x: 0, y: number),
            control2: Point(x: 0, y: 0)
        )
        #expect(TextOutline(glyphs: [[curve]], width: 1, height: 1) == nil)
        #expect(TextOutline(glyphs: [], width: number, height: 1) == nil)
        #expect(TextOutline(glyphs: [], width: 1, height: number) == nil)
        #expect(TextOutline(glyphs: [], width: 0, height: 1) == nil)
        // The ratio of the sides must be a number.
        #expect(TextOutline(glyphs: [], width: .leastNonzeroMagnitude, height: 1) == nil)
    }

    @Test func tooManySegmentsAreRefused() {
        let glyph = TextOutline.Glyph(repeating: .line(to: Point(x: 1, y: 1)), count: TextOutline.maximumSegmentCount)
        #expect(TextOutline(glyphs: [glyph], width: 1, height: 1) != nil)
        #expect(TextOutline(glyphs: [glyph, [.line(to: Point(x: 1, y: 1))]], width: 1, height: 1) == nil)
    }

    @Test func colorAndOpacityAreThoseOfTheText() throws {
        let outline = try #require(TextOutline(glyphs: [rectangle(0, 0, 1.5, 1)], width: 2, height: 1))
        let color = Color(red: 1, green: 2, blue: 3, alpha: 100)
        let image = try outline.image(size: ImageSize(clamping: 2, 1), color: color)
        #expect(image[0, 0] == color && image[1, 0] == Color(red: 1, green: 2, blue: 3, alpha: 50))
    }

    @Test func watermarkHasTheProportionsOfTheOutline() throws {
        let red = Color(red: 255, green: 0, blue: 0)
        let outline = try #require(TextOutline(glyphs: [rectangle(0, 0, 20, 10)], width: 20, height: 10))
        let mark = Watermark(
            .outline(outline, red),
            at: .single(.topLeft, margin: 0.1),
            width: .ofWidth(0.2),
            opacity: 1
        )
        let image = try mark.filtered(.plain(100, 60, .black))
        for y in 0..<60 {
            for x in 0..<100 {
                #expect(image[x, y] == ((6..<26).contains(x) && (6..<16).contains(y) ? red : .black))
            }
        }
    }

    @Test func textWithoutVisibleGlyphsChangesNothing() throws {
        let image = Image.sample(30, 20)
        let space = try #require(TextOutline(glyphs: [[]], width: 4, height: 9))
        let box = try #require(TextOutline(glyphs: [rectangle(0, 0, 4, 9)], width: 4, height: 9))
        for mark in [Watermark.Mark.outline(space, .white), .outline(box, .clear)] {
            #expect(try Watermark(mark).filtered(image) == image)
        }
    }

    @Test func outlineFitsIntoAnImageOfAnyProportions() throws {
        for (width, height) in [(1e-6, 1e6), (1e6, 1e-6), (1, 1)] {
            let outline = try #require(
                TextOutline(glyphs: [rectangle(0, 0, width, height)], width: width, height: height)
            )
            for placement in [Watermark.Placement.single(.center), .tiled] {
                for image in [Image.plain(1, 1, .black), .plain(1, 40, .black), .plain(40, 1, .black)] {
                    let mark = Watermark(.outline(outline, .white), at: placement, width: .ofWidth(1))
                    #expect(try mark.filtered(image).size == image.size)
                }
            }
        }
    }

    @Test func watermarksWithOtherOutlinesDiffer() throws {
        let boxes = try [1.0, 2, 2].map {
            try #require(TextOutline(glyphs: [rectangle(0, 0, $0, 1)], width: 4, height: 1))
        }
        #expect(Set(boxes.map { Watermark(.outline($0, .white)) }).count == 2)
        #expect(Watermark(.outline(boxes[0], .white)) != Watermark(.outline(boxes[0], .black)))
    }

    @Test func cancelledTaskThrows() async throws {
        let outline = try #require(TextOutline(glyphs: [rectangle(0, 0, 4, 4)], width: 4, height: 4))
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Watermark(.outline(outline, .white)).filtered(.sample(40, 40))
            }
        )
    }
}
