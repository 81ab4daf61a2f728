import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

@Suite(.timeLimit(.minutes(5)))
struct ImageDataCacheTests {
    private let store = SketchStore()
    private let source = SketchSource(["a": SketchCodec.bytes(8, 4, gray: 9)])

    private func loader(_ plugins: any Plugin<ImageResult>...) -> ImageLoader {
        var loader = ImageLoader(
            source: source,
            codec: SketchCodec(),
            cache: ImageCache(bytes: 0),
            store: store,
            timer: .still
        )
        for plugin in plugins { loader.addPlugin(plugin) }
        return loader
    }

    @Test func storeIsUpdatedAndReadBeforeAFetch() async {
        for _ in 0..<2 { #expect(await loader(Darken(by: 1)).load("a").result.map { $0[0, 0].red } == .success(8)) }
        #expect(source.asked == ["a"])
        #expect(await loader(Darken(by: 1)).load("a").report.steps.map(\.origin) == [.store])
        #expect(store.all == [SketchCodec.bytes(8, 4, gray: 8)])
    }

    /// A load starts on the caller's thread, which may be the main thread. Decoding must run on the loader's executor, which
    /// here runs nothing before it is drained.
    @Test(arguments: [false, true]) func imagesAreNotDecodedOnTheCallersThread(isStored: Bool) async throws {
        if isStored { _ = await loader().load("a") }
        let codec = SketchCodec()
        let scheduler = DeterministicScheduler(seed: 1)
        let loader = ImageLoader(
            source: source,
            codec: codec,
            cache: ImageCache(bytes: 0),
            store: store,
            timer: .still,
            executor: scheduler.executor
        )
        let load = Task.waiting { await loader.load("a").report.steps.map(\.origin) }
        #expect(codec.decoded.isEmpty)
        try await scheduler.drain()
        #expect(await load.value == (isStored ? [.store] : [.done, .done, .done]))
        #expect(codec.decoded == [1])
    }

    @Test func differentPluginsHaveDifferentEntries() async {
        _ = await loader(Darken(by: 1)).load("a")
        #expect(await loader(Darken(by: 2)).load("a").result.map { $0[0, 0].red } == .success(7))
        #expect(await loader(Shrink(to: 2, 2)).load("a").result.outcome == "2×2")
    }

    @Test func imageThatReplacesAFailureIsNotStored() async {
        _ = await loader(Rescue()).load("b")
        #expect(store.all.isEmpty)
    }

    @Test func storedImageOverTheLimitIsReplaced() async {
        _ = await loader().load("a")
        store.replace { _ in SketchCodec.bytes(9, 4) }
        let limits = ImageLimits(pixels: 32)
        let loader = ImageLoader(
            source: source,
            codec: SketchCodec(),
            limits: limits,
            cache: ImageCache(bytes: 0),
            store: store,
            timer: .still
        )
        #expect(await loader.load("a").result.outcome == "8×4")
    }

    @Test func possiblyTruncatedImageIsNotStored() async {
        let loader = ImageLoader(
            source: source,
            codec: SketchCodec(),
            store: store,
            allowsTruncation: true,
            timer: .still
        )
        #expect(await loader.load("a").result.outcome == "8×4")
        #expect(store.all.isEmpty)
    }

    @Test func unreadableStoredImageIsReplaced() async {
        _ = await loader().load("a")
        store.replace { _ in [1, 2, 3] }
        #expect(await loader().load("a").result.outcome == "8×4")
        #expect(source.asked == ["a", "a"])
    }

    @Test func forgottenImageIsRemovedFromTheStore() async {
        let loader = loader()
        _ = await loader.load("a")
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(4, 8))))
        await loader.forget("b")
        #expect(await loader.load("a").result.outcome == "8×4")
        await loader.forget("a")
        #expect(await loader.load("a").result.outcome == "4×8")
    }

    @Test(arguments: [false, true]) func loadInFlightDuringForgetIsNotStored(isBeingKept: Bool) async {
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)], isOpen: isBeingKept)
        let store = SketchStore(isOpen: !isBeingKept)
        let loader = ImageLoader(source: source, codec: SketchCodec(), store: store, timer: .still)
        let load = Task.waiting { await loader.load("a").result.outcome }
        if isBeingKept { await store.isKeeping() }
        await loader.forget("a")
        source.open()
        store.open()
        #expect(await load.value == "8×4")
        #expect(store.all.isEmpty)
        #expect(store.keepings.value == (isBeingKept ? 1 : 0))
    }
}
