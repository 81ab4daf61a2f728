import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

struct ImageLoadCancellationTests {
    private let source = SketchSource(["a": SketchCodec.bytes(8, 4)], isOpen: false)

    private func load(_ loader: ImageLoader) -> Task<String, Never> {
        Task.waiting { await loader.load("a").result.outcome }
    }

    @Test func concurrentLoadsOfTheSameImageAreCoalesced() async {
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        let loads = (0..<100).map { _ in load(loader) }
        source.open()
        for load in loads { #expect(await load.value == "8×4") }
        #expect(source.asked == ["a"])
    }

    @Test func cancellingALoadDoesNotAffectTheOthers() async {
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        let (first, second) = (load(loader), load(loader))
        first.cancel()
        #expect(await first.value == "cancelled")
        source.open()
        #expect(await second.value == "8×4")
        #expect(source.asked == ["a"] && source.cancelled == 0)
    }

    @Test func cancellingTheLastLoadCancelsTheFetch() async {
        var loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        loader.addPlugin(Shrink(to: 1, 1))
        let loads = [load(loader), load(loader)]
        for load in loads {
            load.cancel()
            #expect(await load.value == "cancelled")
        }
        // The fetch has been cancelled by now, although it has not ended yet. A new load must not join it.
        let again = load(loader)
        source.open()
        #expect(await again.value == "1×1")
        #expect(source.asked == ["a", "a"])
    }

    @Test func imageOfACancelledLoadIsNotProcessed() async {
        let processed = Counter()
        let isDecoding = Promise<Void>()
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)])
        // Cancels the load while the codec runs.
        let codec = SketchCodec {
            isDecoding.fulfill(())
            // `unsafe`: the task is used only while the closure runs.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        }
        var loader = ImageLoader(source: source, codec: codec, timer: .still)
        loader.addPlugin(Darken(by: 1, processed))
        #expect(await load(loader).value == "cancelled")
        #expect(processed.value == 0)
    }

    @Test func resultOfACancelledPluginIsDiscarded() async {
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)])
        var loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        loader.addPlugin(CancelledFilter())
        #expect(await load(loader).value == "cancelled")
        #expect(await loader.load("a").report.steps.map(\.origin) != [.memory])
    }

    @Test func deadlineEndsALoadButNotItsSharedWork() async {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: timer)
        let hasty = Task.waiting {
            await Deadline(in: .seconds(1), on: timer).carried(by: { () async throws(ImageError) in
                try await loader.loadImage(from: "a")
            }).outcome
        }
        let patient = load(loader)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(await hasty.value == "timedOut")
        source.open()
        #expect(await patient.value == "8×4")
    }

    @Test func randomLoadsAndCancellationsLeakNoMemory() async {
        let seed = UInt64.random(in: 0 ... .max)
        print("randomLoadsAndCancellationsLeakNoMemory: seed \(seed)")
        let addresses = (1...8).map { ImageAddress("\($0)") }
        let images = addresses.map { ($0, SketchCodec.bytes(Int($0.rawValue) ?? 1, 100)) }
        let source = SketchSource(Dictionary(uniqueKeysWithValues: images))
        let budget = DecodingBudget(bytes: 16 * 400)
        let cache = ImageCache(bytes: 20_000)
        let plain = ImageLoader(source: source, codec: SketchCodec(), cache: cache, budget: budget, timer: .still)
        var marked = plain
        marked.addPlugin(Darken(by: 1))
        let loaders = [plain, marked]
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(index))
                    for _ in 0..<200 {
                        let loader = loaders[Int.random(in: 0...1, using: &random)]
                        let address = addresses[Int.random(in: 0..<8, using: &random)]
                        let yields = Int.random(in: 0...3, using: &random)
                        let load = Task { try await loader.loadImage(from: address) }
                        for _ in 0..<yields { await Task.yield() }
                        if Bool.random(using: &random) { load.cancel() }
                        switch await load.result {
                        case .success(let image): #expect("\(image.size.width)" == address.rawValue)
                        case .failure(let error): #expect((error as? ImageError)?.reason == .cancelled)
                        }
                    }
                }
            }
        }
        // No reservation has leaked, so every image still fits into the budget.
        for address in addresses { #expect((try? await plain.loadImage(from: address)) != nil) }
    }
}
