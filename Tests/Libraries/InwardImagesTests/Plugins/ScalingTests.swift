import TestSupport
import Testing
import Thoroughness

@testable import InwardImages

struct ScalingTests {
    private func scaling(
        _ source: (Int, Int),
        _ size: (Int, Int),
        _ gravity: Gravity,
        enlarges: Bool = true
    ) throws -> Scaling {
        Scaling(
            of: try #require(ImageSize(width: source.0, height: source.1)),
            to: try #require(ImageSize(width: size.0, height: size.1)),
            mode: .fill(gravity),
            enlarges: enlarges
        )
    }

    /// Three rows are cut off, and half of that is not a whole number.
    @Test(arguments: [(Gravity.top, 0.0), (.center, 1), (.bottom, 3)])
    func partOfUnchangedHeightStartsAtAWholeRow(gravity: Gravity, top: Double) throws {
        let scaling = try scaling((4, 7), (4, 4), gravity)
        #expect(scaling.rows == top..<top + 4)
        #expect(scaling.columns == 0..<4)
        #expect(scaling.size == ImageSize(width: 4, height: 4))
    }

    @Test(arguments: [(Gravity.left, 0.0), (.center, 1), (.right, 3)])
    func partOfUnchangedWidthStartsAtAWholeColumn(gravity: Gravity, left: Double) throws {
        let scaling = try scaling((7, 4), (4, 4), gravity)
        #expect(scaling.columns == left..<left + 4)
        #expect(scaling.rows == 0..<4)
    }

    /// Resampling mixes pixels anyway, so the part may begin between two rows.
    @Test func partThatIsShrunkIsCenteredExactly() throws {
        let scaling = try scaling((8, 15), (4, 4), .center)
        #expect(scaling.rows == 3.5..<11.5)
        #expect(scaling.verticalScale == 2 && scaling.horizontalScale == 2)
        #expect(!scaling.enlarges && !scaling.keepsEverything)
    }

    @Test func partOfASmallImageIsNotEnlarged() throws {
        let scaling = try scaling((3, 8), (8, 8), .center, enlarges: false)
        #expect(scaling.size == ImageSize(width: 3, height: 3))
        #expect(scaling.rows == 2..<5)
    }

    @Test func sameRowsAreTakenFromAReducedImage() throws {
        let reduced = try scaling((8, 15), (4, 4), .center).reduced(to: #require(ImageSize(width: 4, height: 8)))
        #expect(reduced.source == ImageSize(width: 4, height: 8))
        #expect(reduced.columns == 0..<4)
        #expect(abs(reduced.rows.lowerBound - 3.5 * 8 / 15) < 1e-9)
        #expect(abs(reduced.rows.upperBound - 11.5 * 8 / 15) < 1e-9)
        #expect(reduced.size == ImageSize(width: 4, height: 4))
    }

    @Test func sameColumnsAreTakenFromAReducedImage() throws {
        let reduced = try scaling((15, 8), (4, 4), .center).reduced(to: #require(ImageSize(width: 8, height: 4)))
        #expect(reduced.rows == 0..<4)
        #expect(abs(reduced.columns.lowerBound - 3.5 * 8 / 15) < 1e-9)
        #expect(abs(reduced.columns.upperBound - 11.5 * 8 / 15) < 1e-9)
    }

    @Test func wholeImageIsResampledFromEdgeToEdge() throws {
        let (image, size) = (Image.sample(40, 30), ImageSize(clamping: 7, 5))
        #expect(try Resampler.resampled(image, to: size) == Resize(to: size, mode: .exact).filtered(image))
    }

    @Test(arguments: [1, 2]) func cancelledTaskThrowsEvenForFewRows(height: Int) async {
        #expect(
            await CancelledTask.stops { () throws(CancellationError) in
                _ = try Resampler.resampled(.sample(9, 9), to: ImageSize(clamping: 3, height))
            }
        )
    }

    /// For 100×80 to 10×8: 41 taps in each direction, four decoded rows of 100 pixels (6,400 bytes), a band of 44 rows and one
    /// mixed row of 10 pixels each (7,200), 738 weights (2,952) and 18 starts (144).
    @Test(arguments: [((100, 80), (10, 8), 16_696), ((10, 8), (100, 80), 20_080), ((4, 3), (4, 2), 968)])
    func workingBytesMatchTheArrays(source: (Int, Int), size: (Int, Int), byteCount: Int) throws {
        let scaling = Scaling(
            of: try #require(ImageSize(width: source.0, height: source.1)),
            to: try #require(ImageSize(width: size.0, height: size.1)),
            mode: .exact,
            enlarges: true
        )
        #expect(Resampler.workingBytes(for: scaling) == byteCount)
    }

    private static let large: [Image] = [false, true].map { isOpaque in
        // The bytes of a sample repeat after five rows of this width. To copy the rows is faster than to compute a million pixels.
        let rows = Image.sample(1_024, 5, opaque: isOpaque).bytes
        let bytes = (0..<205).reduce(into: [UInt8]()) { bytes, _ in bytes += rows }
        return Image(size: ImageSize(clamping: 1_024, 1_025), bytes: bytes) ?? .sample(1_024, 1_025, opaque: isOpaque)
    }
    /// Large images, each with heights of the result. A result of one row has no lower half.
    private static let largeCases = large.flatMap { image in [7, 1, 2].map { (image, $0) } }

    // The sample has halves of four and three rows of a translucent image, and of one row each of an opaque one.
    @Test(arguments: Thoroughness.sample(largeCases, every: 5))
    func lowerHalfOfALargeImageIsResampledTheSame(image: Image, height: Int) async throws {
        let resize = Resize(to: ImageSize(clamping: 5, height), mode: .exact)
        #expect(try await resize.filter(image, reducedFrom: image.size) == resize.filtered(image))
    }

    @Test func cancelledTaskThrowsForALargeImage() async {
        #expect(
            await CancelledTask.stops { () async throws(CancellationError) in
                let image = Image(size: ImageSize(clamping: 1_024, 1_025))
                _ = try await Resize(width: 5, height: 5).filter(image, reducedFrom: image.size)
            }
        )
    }

    @Test func largeImageNeedsRowsOfItsOwnForEachHalf() {
        let resize = Resize(width: 10, height: 8, mode: .exact)
        // Four decoded rows of 1,024 pixels, one of them more, and half of the result.
        let difference =
            resize.workingBytes(for: ImageSize(clamping: 1_024, 1_024))
            - resize.workingBytes(for: ImageSize(clamping: 1_024, 1_023))
        #expect(difference > 4 * 16 * 1_024 + 10 * 8 * 2)
    }
}
