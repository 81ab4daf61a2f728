import InwardCore
import Synchronization
import TestSupport
import Testing

@testable import InwardImages

/// Tests how much of the budget loads reserve, and when.
@Suite(.timeLimit(.minutes(5)))
struct ImageBudgetTests {
    private let budget = DecodingBudget(bytes: 10_000)

    private func loader(
        _ source: SketchSource,
        cache: ImageCache = ImageCache(bytes: 0),
        store: (any ImageDataCache)? = nil,
        codec: SketchCodec = SketchCodec(),
        budget: DecodingBudget? = nil
    ) -> ImageLoader {
        ImageLoader(
            source: source,
            codec: codec,
            cache: cache,
            budget: budget ?? self.budget,
            store: store,
            timer: .still
        )
    }

    /// Returns how many bytes are reserved while a 10×10 image is decoded.
    private func taken(_ orientation: Orientation = .up, _ plugins: any Plugin<ImageResult>...) async -> Int {
        let source = SketchSource(["a": SketchCodec.bytes(10, 10, orientation: orientation)])
        let taken = Counter()
        // A separate budget, because a load may return its reservation after it has returned its result.
        let budget = DecodingBudget(bytes: 10_000)
        let codec = SketchCodec { for _ in 0..<budget.taken { taken.add() } }
        var loader = loader(source, codec: codec, budget: budget)
        for plugin in plugins { loader.addPlugin(plugin) }
        _ = await loader.load("a")
        return taken.value
    }

    @Test func memoryForPluginsIsReservedTogetherWithDecoding() async {
        #expect(await taken() == 400)
        #expect(await taken(.left) == 800)
        #expect(await taken(.up, Grayscale()) == 800)
        #expect(await taken(.up, Blur(radius: 3)) == 1_600)
        #expect(await taken(.up, Crop(to: ImageSize(clamping: 5, 5))) == 500)
        // The original, the cropped part, and three times the part for the blur.
        #expect(await taken(.up, Crop(to: ImageSize(clamping: 5, 5)), Blur(radius: 3)) == 800)
        // A plugin that is not an image filter counts as needing as much as the image.
        #expect(await taken(.up, CustomPlugin(identity: 1) { (value: ImageResult) in value }) == 800)
    }

    @Test func imageThatNeedsTooMuchMemoryToProcessIsRejected() async {
        let source = SketchSource(["a": SketchCodec.bytes(30, 30)])
        var loader = loader(source)
        loader.addPlugin(Blur(radius: 3))
        guard case .failure(let error) = await loader.load("a").result else {
            Issue.record("The image was loaded.")
            return
        }
        #expect(
            error.description
                == "The image a is 30×30 and takes 14400 bytes to decode and process, more than the 10000 allowed."
        )
    }

    @Test func loadUsesTheFetchedImageOfALoadThatWaitsForMemory() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(8, 8)])
        let plain = loader(source)
        var (first, second) = (plain, plain)
        first.addPlugin(Darken(by: 1))
        second.addPlugin(Grayscale())
        var all = await budget.decodingRoom.reservation(of: 10_000, for: 0)
        #expect(all != nil)
        let loads = [first, second].map { loader in Task.waiting { await loader.load("a") } }
        all = nil
        #expect(await loads[0].value.report.steps.first?.origin == .done)
        #expect(await loads[1].value.report.steps.first?.origin == .shared)
        #expect(source.asked == ["a"])
    }

    @Test func fetchedImageOfAnotherLoadIsReportedAsShared() async {
        let source = SketchSource(["a": SketchCodec.bytes(16, 16)])
        let plain = loader(source)
        var (small, large) = (plain, plain)
        small.addPlugin(Shrink(to: 2, 2))
        large.addPlugin(Shrink(to: 16, 16))
        var all = await budget.decodingRoom.reservation(of: 10_000, for: 0)
        #expect(all != nil)
        let first = Task.waiting { [small] in await small.load("a").report.steps.map(\.description) }
        let second = Task.waiting { [large] in await large.load("a").report.steps.map(\.description) }
        all = nil
        #expect(await first.value.prefix(2) == ["fetch", "decode"])
        #expect(await second.value.prefix(2) == ["fetch (shared)", "decode"])
    }

    @Test func processingACachedImageWaitsForMemory() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(10, 10)])
        let plain = loader(source, cache: ImageCache(timer: .still))
        _ = try await plain.loadImage(from: "a")
        var blurred = plain
        blurred.addPlugin(Blur(radius: 3))
        var most = await budget.decodingRoom.reservation(of: 9_000, for: 0)
        #expect(most != nil)
        let load = Task.waiting { [blurred] in await blurred.load("a").result.outcome }
        #expect(budget.taken == 9_000)
        most = nil
        #expect(await load.value == "10×10")
        #expect(source.asked == ["a"])
    }

    @Test func memoryForACachedImageIsReservedOnceForAllPlugins() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(10, 10)])
        var loader = loader(source, cache: ImageCache(timer: .still))
        _ = try await loader.loadImage(from: "a")
        // Wait until the first load has returned its reservation.
        var all = await budget.decodingRoom.reservation(of: 10_000, for: 0)
        #expect(all != nil)
        all = nil
        let taken = Mutex<[Int]>([])
        for identity in 1...3 {
            let plugin = CustomPlugin(identity: identity) { [budget] (value: ImageResult) in
                taken.withLock { $0.append(budget.taken) }
                return value
            }
            loader.addPlugin(plugin)
        }
        _ = await loader.load("a")
        let bytes = taken.withLock(\.self)
        #expect(bytes.count == 3 && Set(bytes).count == 1 && !bytes.contains(0))
        #expect(source.asked == ["a"])
    }

    @Test func cachedImageThatNeedsTooMuchMemoryToProcessIsRejected() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(30, 30)])
        let plain = loader(source, cache: ImageCache(timer: .still))
        _ = try await plain.loadImage(from: "a")
        var blurred = plain
        blurred.addPlugin(Blur(radius: 3))
        let error = await #expect(throws: ImageError.self) { try await blurred.loadImage(from: "a") }
        #expect(error?.reason == .tooLarge)
        #expect(error?.explanation == "is 30×30 and takes 10800 bytes to process, more than the 10000 allowed")
    }

    @Test func sharedImageIsProcessedOverBudgetInsteadOfWaiting() async {
        let source = SketchSource(["a": SketchCodec.bytes(30, 30)])
        let plain = loader(source)
        var (first, second) = (plain, plain)
        let (isProcessing, gate) = (Promise<Void>(), Gate())
        first.addPlugin(Darken(by: 1))
        second.addPlugin(Darken(by: 1))
        second.addPlugin(
            CustomPlugin(identity: 1) { (value: ImageResult) in
                isProcessing.fulfill(())
                _ = await gate.pass()
                return value
            }
        )
        var all = await budget.decodingRoom.reservation(of: 10_000, for: 0)
        #expect(all != nil)
        // The first load reserves memory for its own plugin only, and the second joins it.
        let loads = [first, second].map { loader in Task.waiting { await loader.load("a").result.outcome } }
        all = nil
        _ = await isProcessing.value()
        #expect(await loads[0].value == "30×30")
        #expect(budget.taken == 7_200 + 3_600)
        gate.open()
        #expect(await loads[1].value == "30×30")
        #expect(await budget.decodingRoom.reservation(of: 10_000, for: 0) != nil)
    }

    @Test func noMemoryIsReservedWhileAStoreKeepsAnImage() async {
        let store = SketchStore(isOpen: false)
        let loader = loader(SketchSource(["a": SketchCodec.bytes(10, 10)]), store: store)
        let load = Task.waiting { await loader.load("a").result.outcome }
        await store.isKeeping()
        #expect(budget.taken == 0)
        store.open()
        #expect(await load.value == "10×10")
    }

    @Test func storedImageOverTheBudgetIsLoadedAgain() async {
        let store = SketchStore()
        let loader = loader(SketchSource(["a": SketchCodec.bytes(10, 10)]), store: store)
        _ = await loader.load("a")
        store.replace { _ in SketchCodec.bytes(100, 100) }
        #expect(await loader.load("a").result.outcome == "10×10")
    }
}
