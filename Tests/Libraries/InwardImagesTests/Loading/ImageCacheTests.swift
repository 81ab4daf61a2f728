import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

struct ImageCacheTests {
    private let source = SketchSource(["a": SketchCodec.bytes(5, 5), "b": SketchCodec.bytes(5, 5)])
    private let clock = ManualClock()

    private func cache(
        bytes: Int = 64 * 1_024,
        lifetime: Duration = .seconds(300),
        absenceLifetime: Duration = .seconds(10)
    ) -> ImageCache {
        ImageCache(bytes: bytes, lifetime: lifetime, absenceLifetime: absenceLifetime, timer: TimerService(clock))
    }

    private func loader(_ cache: ImageCache) -> ImageLoader {
        ImageLoader(source: source, codec: SketchCodec(), cache: cache, timer: TimerService(clock))
    }

    @Test func imageIsCachedForItsLifetimeAndThenFetchedAgain() async throws {
        let loader = loader(cache(lifetime: .seconds(10)))
        _ = try await loader.loadImage(from: "a")
        clock.advance(by: .milliseconds(9_999))
        _ = try await loader.loadImage(from: "a")
        #expect(source.asked == ["a"])
        clock.advance(by: .milliseconds(1))
        _ = try await loader.loadImage(from: "a")
        #expect(source.asked == ["a", "a"])
    }

    @Test func forgettingAffectsOnlyTheAddressAndPartition() {
        let cache = cache()
        let header = ImageHeader(format: .png, size: ImageSize(clamping: 1, 1))
        let partitions = [cache.makePartition(), cache.makePartition()]
        func keepAll() {
            for partition in partitions {
                for address in ["a", "b"] as [ImageAddress] {
                    cache.keep(header, of: address, in: partition, since: cache.version(of: address, in: partition))
                }
            }
        }
        func kept() -> [[Bool]] {
            partitions.map { partition in
                (["a", "b"] as [ImageAddress]).map { cache.header(of: $0, in: partition) != nil }
            }
        }
        keepAll()
        #expect(kept() == [[true, true], [true, true]])
        cache.forget("a", in: partitions[0])
        #expect(kept() == [[false, true], [true, true]])
        keepAll()
        cache.forget(nil, in: partitions[1])
        #expect(kept() == [[true, true], [false, false]])
    }

    @Test func absenceIsCachedBrieflyAndOtherFailuresAreNot() async {
        let loader = loader(cache(absenceLifetime: .seconds(3)))
        for _ in 0..<2 { #expect(await loader.load("c").result.outcome == "notFound") }
        #expect(source.asked == ["c"])
        clock.advance(by: .seconds(3))
        _ = await loader.load("c")
        #expect(source.asked == ["c", "c"])
        source.answer("d", .failure(ImageError(.unavailable, explanation: "is unavailable")))
        for _ in 0..<2 { #expect(await loader.load("d").result.outcome == "unavailable") }
        #expect(source.asked == ["c", "c", "d", "d"])
    }

    @Test func atMost4096HeadersAreCached() {
        let cache = cache()
        let partition = cache.makePartition()
        let addresses = (0...4_096).map { ImageAddress("\($0)") }
        func keptCount() -> Int { addresses.count { cache.header(of: $0, in: partition) != nil } }
        for (number, address) in addresses.enumerated() {
            if number == 4_096 { #expect(keptCount() == 4_096) }
            cache.keep(ImageError(.notFound, explanation: "is unavailable"), of: address, in: partition, since: 0)
        }
        #expect(keptCount() == 4_096)
    }

    @Test func imagesUseAtMostTheirByteLimit() async throws {
        let cache = cache(bytes: 4 * 613)
        var loader = loader(cache)
        loader.addPlugin(Darken(by: 1))
        _ = try await loader.loadImage(from: "a")
        _ = try await loader.loadImage(from: "b")
        #expect(cache.bytes == 4 * 613)
    }

    @Test func outlinesOfAWatermarkCountForTheLimit() async throws {
        let glyph = TextOutline.Glyph(repeating: .line(to: TextOutline.Point(x: 1, y: 1)), count: 100)
        let outline = try #require(TextOutline(glyphs: [glyph, glyph], width: 1, height: 1))
        var bytes: [Int] = []
        for mark in [Watermark.Mark.text("a", .white), .outline(outline, .white)] {
            let cache = cache()
            var loader = loader(cache)
            loader.addPlugin(Watermark(mark))
            _ = try await loader.loadImage(from: "a")
            bytes.append(cache.bytes)
        }
        #expect(bytes[1] - bytes[0] == 200 * MemoryLayout<TextOutline.Segment>.stride)
    }

    @Test func cacheOfZeroBytesKeepsNothing() async throws {
        let cache = cache(bytes: 0)
        let loader = loader(cache)
        for _ in 0..<2 {
            _ = try await loader.loadImage(from: "a")
            _ = await loader.load("c")
        }
        #expect(source.asked == ["a", "c", "a", "c"])
        #expect(cache.bytes == 0)
    }

    /// The byte limit does not count headers and absences. Only a limit of zero disables them.
    @Test(arguments: [(0, false), (1, true)]) func headersAreCachedUnlessTheLimitIsZero(bytes: Int, isKept: Bool) {
        let cache = cache(bytes: bytes)
        let partition = cache.makePartition()
        let header = ImageHeader(format: .png, size: ImageSize(clamping: 1, 1))
        cache.keep(header, of: "a", in: partition, since: 0)
        cache.keep(ImageError(.notFound, explanation: "is unavailable"), of: "b", in: partition, since: 0)
        for address in ["a", "b"] as [ImageAddress] {
            #expect((cache.header(of: address, in: partition) != nil) == isKept)
        }
    }

    @Test func loadersShareTheMemoryOfACacheButNotItsContents() async throws {
        let cache = cache(bytes: 4 * 613)
        let first = loader(cache)
        let second = loader(cache)
        for loader in [first, second, first, second] { _ = try await loader.loadImage(from: "a") }
        #expect(source.asked == ["a", "a"])
        #expect(cache.bytes == 4 * 613)
    }

    @Test func absenceIsCachedPerLoaderUntilItIsForgotten() async {
        let cache = cache()
        let (first, second) = (loader(cache), loader(cache))
        for loader in [first, second, first, second] { _ = await loader.load("c") }
        #expect(source.asked == ["c", "c"])
        await first.forget("c")
        for loader in [first, second] { _ = await loader.load("c") }
        #expect(source.asked == ["c", "c", "c"])
    }

    @Test func releasingALoaderDoesNotAffectOthers() async throws {
        let cache = cache()
        let source = SketchSource(["a": SketchCodec.bytes(5, 5)], isOpen: false)
        let loader = ImageLoader(source: source, codec: SketchCodec(), cache: cache, timer: TimerService(clock))
        let load = Task.waiting { await loader.load("a").result.outcome }
        do { _ = self.loader(cache) }
        source.open()
        #expect(await load.value == "5×5")
        _ = try await loader.loadImage(from: "a")
        #expect(source.asked == ["a"])
    }

    @Test func derivedImageExpiresWithItsOriginal() async throws {
        let plain = loader(cache(lifetime: .seconds(10)))
        var dark = plain
        dark.addPlugin(Darken(by: 1))
        _ = try await plain.loadImage(from: "a")
        clock.advance(by: .seconds(9))
        _ = try await dark.loadImage(from: "a")
        #expect(source.asked == ["a"])
        clock.advance(by: .seconds(1))
        _ = try await dark.loadImage(from: "a")
        #expect(source.asked == ["a", "a"])
    }

    @Test func cachedImagesAreRemovedWithTheLastCopyOfALoader() async throws {
        let cache = cache()
        var loader: ImageLoader? = loader(cache)
        var copy = loader
        _ = try await loader?.loadImage(from: "a")
        loader = nil
        #expect(cache.bytes > 0 && copy != nil)
        copy = nil
        #expect(cache.bytes == 0)
    }

    @Test func imageOverAQuarterOfTheCacheIsNotCached() async throws {
        let loader = loader(cache(bytes: 4 * 612))
        for _ in 0..<2 { _ = try await loader.loadImage(from: "a") }
        #expect(source.asked == ["a", "a"])
    }

    @Test func absenceFoundDuringForgetIsNotCached() async {
        let source = SketchSource(isOpen: false)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        let load = Task.waiting { await loader.load("c").result.outcome }
        await loader.forget("c")
        source.open()
        #expect(await load.value == "notFound")
        source.answer("c", .success(EncodedImage(SketchCodec.bytes(5, 5))))
        #expect(await loader.load("c").result.outcome == "5×5")
    }

    @Test func forgettingDoesNotAffectLoadsOfMostOtherAddresses() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(5, 5), "b": SketchCodec.bytes(5, 5)], isOpen: false)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        var counts = InvalidationGenerations()
        // An address that does not share a counter with the image.
        let other = try #require(
            (0..<1_000).map { ImageAddress("\($0)") }.first { address in
                counts = InvalidationGenerations()
                counts.add(address)
                return counts.count(for: "a") == 0
            }
        )
        let load = Task.waiting { await loader.load("a").result.outcome }
        await loader.forget(other)
        source.open()
        #expect(await load.value == "5×5")
        #expect(await loader.load("a").report.steps.map(\.origin) == [.memory])
    }
}
