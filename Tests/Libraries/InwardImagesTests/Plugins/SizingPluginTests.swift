import InwardCore
import TestSupport
import Testing
import Thoroughness

@testable import InwardImages

struct SizingPluginTests {
    /// A plugin that records its calls, and allows images to be decoded at a size.
    private struct Measure: ImageFilter {
        let size: ImageSize
        let journal: Journal

        func filtered(_ image: Image) throws(CancellationError) -> Image {
            journal.add("\(image.size)")
            return image
        }

        func filtered(_ image: Image, reducedFrom size: ImageSize) throws(CancellationError) -> Image {
            journal.add("\(image.size) of \(size)")
            return image
        }

        func leastSize(for size: ImageSize) -> ImageSize? { self.size }

        static func == (left: Self, right: Self) -> Bool { left.size == right.size }
        func hash(into hasher: inout Hasher) { hasher.combine(size) }
    }

    private let codec = SketchCodec()

    @Test func pluginReceivesTheFullSizeOnlyForAReducedImage() async {
        let journal = Journal()
        for width in [51, 50] {
            _ = await loader(SketchCodec.bytes(100, 8), Measure(size: ImageSize(clamping: width, 1), journal: journal))
                .load("a")
        }
        #expect(codec.decoded == [1, 2])
        #expect(journal.entries == ["100×8", "50×4 of 100×8"])
    }

    private func loader(_ bytes: [UInt8], _ plugins: any Plugin<ImageResult>...) -> ImageLoader {
        var loader = ImageLoader(source: SketchSource(["a": bytes]), codec: codec, timer: .still)
        for plugin in plugins { loader.addPlugin(plugin) }
        return loader
    }

    @Test(arguments: [(100, 1), (51, 1), (50, 2), (26, 2), (25, 4), (14, 4), (13, 8), (1, 8)])
    func imageIsDecodedNoLargerThanTheFirstPluginNeeds(width: Int, reduction: Int) async {
        _ = await loader(SketchCodec.bytes(100, 4), Shrink(to: width, 1)).load("a")
        #expect(codec.decoded == [reduction])
    }

    @Test func orientedImageIsMeasuredAsDisplayed() async {
        _ = await loader(SketchCodec.bytes(800, 100, orientation: .left), Shrink(to: 50, 400)).load("a")
        #expect(codec.decoded == [2])
    }

    @Test(arguments: [(100, 8), (101, 4)]) func reductionKeepsBothSidesLargeEnough(height: Int, reduction: Int) async {
        _ = await loader(SketchCodec.bytes(8, 800), Shrink(to: 1, height)).load("a")
        #expect(codec.decoded == [reduction])
    }

    @Test func imageWithoutOrientIsMeasuredAsStored() async {
        var loader = loader(SketchCodec.bytes(800, 100, orientation: .left), Shrink(to: 400, 50))
        loader.removePlugin(Orient())
        _ = await loader.load("a")
        #expect(codec.decoded == [2])
    }

    @Test func changedImageIsMeasuredAgain() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(80, 80)])
        // Room for headers, but not for images.
        var loader = ImageLoader(source: source, codec: codec, cache: ImageCache(bytes: 1), timer: .still)
        loader.addPlugin(Shrink(to: 10, 10))
        _ = try await loader.loadImage(from: "a")
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(10, 10))))
        _ = try await loader.loadImage(from: "a")
        #expect(codec.decoded == [8, 1])
    }

    @Test func laterPluginDoesNotAffectTheDecodingSize() async {
        _ = await loader(SketchCodec.bytes(800, 100), Darken(by: 1), Shrink(to: 8, 1)).load("a")
        #expect(codec.decoded == [1])
    }

    @Test func reducedImageIsNotSharedWithLoadersThatNeedMore() async throws {
        let small = loader(SketchCodec.bytes(80, 80), Shrink(to: 10, 10))
        var large = small
        large.removePlugin(Shrink(to: 10, 10))
        _ = try await small.loadImage(from: "a")
        #expect(try await large.loadImage(from: "a").size.width == 80)
        #expect(codec.decoded == [8, 1])
    }

    @Test func loadersWithTheSameReductionFetchAndDecodeOnce() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(80, 80)])
        var first = ImageLoader(source: source, codec: codec, timer: .still)
        var second = first
        first.addPlugin(Shrink(to: 10, 10))
        second.addPlugin(Shrink(to: 9, 9))
        _ = try await first.loadImage(from: "a")
        #expect(try await second.loadImage(from: "a").size.width == 9)
        #expect(codec.decoded == [8] && source.asked == ["a"])
    }

    @Test(arguments: Thoroughness.sample([(1_001, 665), (665, 1_001), (799, 601), (333, 1_777)], every: 3))
    func resultSizeDoesNotDependOnTheReduction(width: Int, height: Int) async throws {
        let size = ImageSize(clamping: width, height)
        for mode in [Resize.Mode.fit, .fill, .exact] {
            let resize = Resize(width: 100, height: 100, mode: mode)
            let image = try await loader(SketchCodec.bytes(width, height), resize).loadImage(from: "a")
            #expect(image.size == resize.resultSize(for: size))
        }
        #expect(codec.decoded.allSatisfy { $0 > 1 })
    }

    /// Neither a substitute nor its header is cached.
    @Test func resultSizeOfASubstituteDoesNotDependOnTheReduction() async throws {
        let resize = Resize(width: 100, height: 100)
        let source = SketchSource()
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(1_001, 665, orientation: .left), isGenuine: false)))
        var loader = ImageLoader(source: source, codec: codec, timer: .still)
        loader.addPlugin(resize)
        let size = ImageSize(clamping: 665, 1_001)
        #expect(try await loader.loadImage(from: "a").size == resize.resultSize(for: size))
        #expect(codec.decoded.allSatisfy { $0 > 1 })
    }

    @Test func resultSizeOfAnOrientedImageIsThatOfTheDisplayedOne() async throws {
        let resize = Resize(width: 100, height: 100)
        let turned = loader(SketchCodec.bytes(1_001, 665, orientation: .left), resize)
        for _ in 0..<2 {
            #expect(
                try await turned.loadImage(from: "a").size == resize.resultSize(for: ImageSize(clamping: 665, 1_001))
            )
        }
    }

    @Test func changedImageIsNotCachedForTheOldReduction() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(80, 80)])
        // Room for a 4×4 image, but not for a larger one.
        let cache = ImageCache(bytes: 4 * 580, timer: .still)
        var loader = ImageLoader(source: source, codec: codec, cache: cache, timer: .still)
        loader.addPlugin(Shrink(to: 10, 10))
        _ = try await loader.loadImage(from: "a")
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(4, 4))))
        _ = try await loader.loadImage(from: "a")
        // Now the image is large again. The small image must not have been cached for its reduction.
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(80, 80, gray: 7))))
        for _ in 0..<2 { #expect(try await loader.loadImage(from: "a")[0, 0].red == 7) }
        #expect(source.asked == ["a", "a", "a", "a"])
    }
}
