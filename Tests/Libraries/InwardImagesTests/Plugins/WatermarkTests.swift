import InwardImages
import TestSupport
import Testing

struct WatermarkTests {
    private let red = Color(red: 255, green: 0, blue: 0)

    /// Returns the columns and rows that a red mark covers on black.
    private func place(_ watermark: Watermark, on width: Int, _ height: Int) throws -> (
        ClosedRange<Int>, ClosedRange<Int>
    )? {
        let image = try watermark.filtered(.plain(width, height, .black))
        let marked = (0..<width * height).filter { image[$0 % width, $0 / width] != .black }
        let (columns, rows) = (marked.map { $0 % width }, marked.map { $0 / width })
        guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
            return nil
        }
        #expect(marked.count == (right - left + 1) * (bottom - top + 1))
        return (left...right, top...bottom)
    }

    @Test func workingBytesAreThoseOfTwoImages() {
        let watermark = Watermark(.image(.plain(2, 1, red)), at: .single(.center, margin: 0))
        #expect(watermark.workingBytes(for: ImageSize(clamping: 4, 3)) == 96)
    }

    @Test func markIsBlendedOverTheImage() throws {
        let mark = Image.smooth(4, 3, opaque: false)
        let watermark = Watermark(
            .image(mark),
            at: .single(.bottomRight, margin: 0),
            width: .ofWidth(0.5),
            opacity: 0.6
        )
        #expect(try watermark.filtered(.sample(8, 6)).distance(from: Expected.marked) == 0)
    }

    @Test(arguments: Gravity.allCases)
    func markIsPlacedWithAMargin(gravity: Gravity) throws {
        let mark = Watermark.Mark.image(.plain(20, 10, red))
        let watermark = Watermark(mark, at: .single(gravity, margin: 0.1), width: .ofWidth(0.2), opacity: 1)
        let (columns, rows) = try #require(try place(watermark, on: 100, 60))
        let left = [6, 40, 74][gravity.column]
        let top = [6, 25, 44][gravity.row]
        #expect(columns == left...left + 19)
        #expect(rows == top...top + 9)
    }

    @Test func widthCanBeRelativeToTheShorterSide() throws {
        let mark = Watermark.Mark.image(.plain(2, 1, red))
        let watermark = Watermark(mark, at: .single(.topLeft, margin: 0), width: .ofShorterSide(0.5), opacity: 1)
        let (columns, rows) = try #require(try place(watermark, on: 100, 60))
        #expect(columns == 0...29)
        #expect(rows == 0...14)
    }

    @Test func markNeverExceedsTheImage() throws {
        let mark = Watermark.Mark.image(.plain(2, 20, red))
        let watermark = Watermark(mark, at: .single(.center, margin: 0.1), width: .ofWidth(1), opacity: 1)
        let (columns, rows) = try #require(try place(watermark, on: 100, 60))
        #expect(rows == 6...53)
        #expect(columns == 47...51)
        let point = try Watermark(mark, opacity: 1).filtered(.plain(1, 1, .black))
        #expect(point == .plain(1, 1, red))
    }

    @Test func tilesCoverTheImageUpToItsEdges() throws {
        let mark = Watermark.Mark.image(.plain(1, 1, red))
        let watermark = Watermark(mark, at: .tiled(spacing: 0.2), width: .ofWidth(0.1), opacity: 1)
        let image = try watermark.filtered(.plain(30, 20, .black))
        for y in 0..<20 {
            for x in 0..<30 {
                let isMarked = (x + 5) % 7 < 3 && (y + 5) % 7 < 3
                #expect(image[x, y] == (isMarked ? red : .black))
            }
        }
        let dense = Watermark(mark, at: .tiled(spacing: 0), width: .ofWidth(0), opacity: 1)
        #expect(try dense.filtered(.plain(5, 4, .black)) == .plain(5, 4, red))
    }

    /// Tiles have gaps between them, but no margin around them.
    @Test func tileCanBeAsWideAsTheImage() throws {
        let mark = Image.smooth(8, 6)
        let watermark = Watermark(.image(mark), at: .tiled(spacing: 0), width: .ofWidth(1), opacity: 1)
        #expect(try watermark.filtered(.plain(8, 6, .black)) == mark)
    }

    @Test func textIsDrawnInItsColor() throws {
        let text = Watermark(.text("A", red), at: .single(.topLeft, margin: 0), width: .ofWidth(0.5), opacity: 1)
        let image = try text.filtered(.plain(10, 20, .black))
        #expect((0..<5).map { image[$0, 0] } == [.black, red, red, red, .black])
        #expect((0..<5).map { image[$0, 3] } == [red, red, red, red, red])
        #expect((0..<10).allSatisfy { image[$0, 7] == .black })
    }

    @Test func invisibleWatermarkChangesNothing() throws {
        let image = Image.sample(30, 20)
        for watermark in [
            Watermark(.text("A", red), opacity: 0), Watermark(.text("", red)), Watermark(.text("A", .clear)),
            Watermark(.text(" ", red)), Watermark(.image(.plain(3, 3, .clear))),
            Watermark(.text("A", red), opacity: -3),
        ] {
            #expect(try watermark.filtered(image) == image)
        }
    }

    @Test func opacityIsAppliedToTheMark() throws {
        let mark = Watermark.Mark.image(.plain(1, 1, red))
        let half = Watermark(mark, at: .single(.center, margin: 0), width: .ofWidth(1), opacity: 0.5)
        #expect(try half.filtered(.plain(2, 2, .clear)) == .plain(2, 2, Color(red: 255, green: 0, blue: 0, alpha: 128)))
        #expect(try half.filtered(.plain(2, 2, .black)) == .plain(2, 2, Color(red: 128, green: 0, blue: 0)))
    }

    /// If both are transparent, there is no color to mix.
    @Test func clearPixelOverAClearPixelChangesNothing() throws {
        let hidden = Color(red: 7, green: 8, blue: 9, alpha: 0)
        let mark = try #require(Image(size: ImageSize(clamping: 2, 1), bytes: [255, 0, 0, 255, 1, 2, 3, 0]))
        let watermark = Watermark(.image(mark), at: .single(.topLeft, margin: 0), width: .ofWidth(1), opacity: 1)
        let image = try watermark.filtered(.plain(2, 1, hidden))
        #expect(image[0, 0] == red)
        #expect(image[1, 0] == hidden)
    }

    @Test func numbersOutOfRangeAreClamped() throws {
        let mark = Watermark.Mark.text("A", red)
        #expect(Watermark(mark, opacity: .infinity) == Watermark(mark, opacity: 1))
        #expect(Watermark(mark, opacity: .nan) == Watermark(mark))
        #expect(Watermark(mark, width: .ofWidth(.nan)) == Watermark(mark))
        #expect(Watermark(mark, width: .ofShorterSide(9)) == Watermark(mark, width: .ofShorterSide(1)))
        #expect(Watermark(mark, width: .ofWidth(-1)) == Watermark(mark, width: .ofWidth(0)))
        #expect(Watermark(mark, at: .single(.bottomRight, margin: .nan)) == Watermark(mark))
        #expect(Watermark(mark, at: .single(.top, margin: 7)) == Watermark(mark, at: .single(.top, margin: 0.45)))
        #expect(Watermark(mark, at: .tiled(spacing: .nan)) == Watermark(mark, at: .tiled))
        #expect(Watermark(mark, at: .tiled(spacing: -7)) == Watermark(mark, at: .tiled(spacing: 0)))
        for image in [Image.plain(1, 1, .black), .plain(1, 40, .black), .plain(40, 1, .black)] {
            for placement in Gravity.allCases.map({ Watermark.Placement.single($0, margin: 1) }) + [.tiled] {
                let long = Watermark(.text(String(repeating: "A", count: 500), red), at: placement, width: .ofWidth(1))
                #expect(try long.filtered(image).size == image.size)
            }
        }
    }

    @Test func equalSettingsAreEqual() {
        let mark = Watermark.Mark.text("A", red)
        #expect(Set([Watermark(mark), Watermark(mark, at: .single(.bottomRight), width: .ofWidth(0.2))]).count == 1)
        let watermarks: Set = [
            Watermark(mark), Watermark(.text("B", red)), Watermark(.text("A", .white)),
            Watermark(.image(.sample(2, 2))),
            Watermark(.image(.sample(2, 3))), Watermark(mark, at: .single(.top)), Watermark(mark, at: .tiled),
            Watermark(mark, at: .single(.bottomRight, margin: 0.1)), Watermark(mark, at: .tiled(spacing: 0.2)),
            Watermark(mark, width: .ofShorterSide(0.2)), Watermark(mark, width: .ofWidth(0.3)),
            Watermark(mark, opacity: 0.5),
        ]
        #expect(watermarks.count == 12)
    }

    @Test func cancelledTaskThrows() async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Watermark(.text("A", .white), at: .tiled).filtered(.sample(40, 40))
            }
        )
    }
}
