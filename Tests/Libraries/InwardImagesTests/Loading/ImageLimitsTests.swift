import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardImages

struct ImageLimitsTests {
    private func error(
        _ bytes: [UInt8],
        _ limits: ImageLimits = ImageLimits(),
        _ codec: SketchCodec = SketchCodec(),
        budget: DecodingBudget = DecodingBudget()
    ) async -> ImageError? {
        let source = SketchSource(["a": bytes])
        let loader = ImageLoader(source: source, codec: codec, limits: limits, budget: budget, timer: .still)
        let result = await loader.load("a").result
        #expect(codec.decoded.isEmpty, "the image was decoded")
        return if case .failure(let error) = result { error } else { nil }
    }

    @Test func imageWithTooManyPixelsIsNotDecoded() async {
        let error = await error(SketchCodec.bytes(10, 11), ImageLimits(pixels: 109))
        #expect(error?.reason == .tooLarge)
        #expect(error?.description == "The image a is 10×11, which is more than the 109 pixels allowed.")
    }

    @Test func imageWithATooLongSideIsNotDecoded() async {
        let error = await error(SketchCodec.bytes(1, 11), ImageLimits(side: 10))
        #expect(error?.description == "The image a is 1×11, and no side may have more than 10 pixels.")
    }

    @Test func encodedImageOverTheLimitIsNotRead() async {
        let error = await error(SketchCodec.bytes(1, 1), ImageLimits(encodedBytes: 11))
        #expect(error?.description == "The image a has 12 bytes, more than the 11 allowed.")
    }

    @Test func imageThatNeedsMoreThanTheBudgetIsRejected() async {
        let codec = SketchCodec(workingBytes: 5)
        let error = await error(SketchCodec.bytes(2, 3), ImageLimits(), codec, budget: DecodingBudget(bytes: 28))
        #expect(error?.description == "The image a is 2×3 and takes 29 bytes to decode, more than the 28 allowed.")
    }

    @Test(arguments: [true, false])
    func imageThatTakesTooLongToDecodeTimesOut(isSlowInHeader: Bool) async {
        let clock = ManualClock()
        for (seconds, outcome) in [(29, nil), (30, ImageError.Reason.timedOut)] {
            let delay: @Sendable () -> Void = { clock.advance(by: .seconds(seconds)) }
            let codec = isSlowInHeader ? SketchCodec(onHeader: delay) : SketchCodec(onDecode: delay)
            let source = SketchSource(["a": SketchCodec.bytes(2, 3)])
            let loader = ImageLoader(source: source, codec: codec, timer: TimerService(clock))
            let error: ImageError? =
                if case .failure(let error) = await loader.load("a").result { error } else { nil }
            #expect(error?.reason == outcome)
            #expect(
                error?.description
                    == outcome.map { _ in
                        "The image a took longer to decode than the 30.0 seconds allowed."
                    }
            )
        }
    }

    @Test func imageAtTheLimitsIsDecoded() async throws {
        let limits = ImageLimits(encodedBytes: 12, pixels: 110, side: 11)
        let source = SketchSource(["a": SketchCodec.bytes(10, 11)])
        let budget = DecodingBudget(bytes: 440)
        let loader = ImageLoader(source: source, codec: SketchCodec(), limits: limits, budget: budget, timer: .still)
        let image = try await loader.loadImage(from: "a")
        #expect(image.size.height == 11)
    }

    @Test func defaultLimitsMatchTheDocumentation() {
        let limits = ImageLimits()
        #expect(limits.encodedBytes == 33_554_432 && limits.pixels == 50_000_000 && limits.side == 16_384)
        #expect(limits.decodingTime == .seconds(30))
    }

    @Test func concurrentLargeImagesTakeTurns() async {
        let addresses = (0..<100).map { ImageAddress("\($0)") }
        let source = SketchSource(Dictionary(uniqueKeysWithValues: addresses.map { ($0, SketchCodec.bytes(100, 100)) }))
        let most = Mutex(0)
        let budget = DecodingBudget(bytes: 3 * 80_000)
        let codec = SketchCodec(workingBytes: 1_000) {
            most.withLock { $0 = max($0, budget.taken) }
        }
        var loader = ImageLoader(
            source: source,
            codec: codec,
            cache: ImageCache(bytes: 0),
            budget: budget,
            timer: .still
        )
        loader.addPlugin(Darken(by: 1))
        await withTaskGroup(of: Void.self) { [loader] group in
            for address in addresses {
                group.addTask { #expect(await loader.load(address).result.outcome == "100×100") }
            }
        }
        #expect((80_000...240_000).contains(most.withLock(\.self)))
        // The work releases its reservation shortly after its waiters have the result. Wait until the whole budget is free.
        #expect(await budget.decodingRoom.reservation(of: budget.limit, for: 0) != nil)
    }

    @Test func decodingMemoryIsReservedOnlyWhileAnImageIsDecodedOrProcessed() async {
        let source = SketchSource(["a": SketchCodec.bytes(10, 10)], isOpen: false)
        let budget = DecodingBudget()
        var loader = ImageLoader(source: source, codec: SketchCodec(), budget: budget, timer: .still)
        let (isProcessing, gate) = (Promise<Void>(), Gate())
        loader.addPlugin(
            CustomPlugin(identity: 1) { (value: ImageResult) in
                isProcessing.fulfill(())
                _ = await gate.pass()
                return value
            }
        )
        let load = Task.waiting { [loader] in await loader.load("a").result.outcome }
        #expect(source.asked == ["a"] && budget.taken == 0)
        source.open()
        _ = await isProcessing.value()
        // The image, and as much again for the plugin.
        #expect(budget.taken == 800)
        gate.open()
        #expect(await load.value == "10×10")
        // The work releases its reservation shortly after its waiters have the result. Wait until the whole budget is free.
        #expect(await budget.decodingRoom.reservation(of: budget.limit, for: 0) != nil)
    }
}
