import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

struct ImageLoadReportTests {
    /// A source without images, which takes two seconds to answer.
    private struct SlowSource: ImageSource {
        let clock: ManualClock

        func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
            clock.advance(by: .seconds(2))
            throw ImageError(.notFound, of: address, explanation: "does not exist")
        }
    }

    @Test func reportListsStepsAndResult() async {
        let source = SketchSource(["a": SketchCodec.bytes(80, 40)])
        var loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        loader.addPlugin(Shrink(to: 10, 5))
        let report = await loader.load("a").report
        #expect(report.steps.map(\.description) == ["fetch", "decode", "Orient", "Shrink"])
        #expect(report.steps.map(\.bytes) == [12, 200, 200, 200])
        #expect(report.size == ImageSize(width: 10, height: 5))
        #expect(await loader.load("a").report.steps.map(\.description) == ["Shrink (memory)"])
        loader.addPlugin(Darken(by: 1))
        #expect(await loader.load("a").report.steps.map(\.description) == ["Shrink (memory)", "Darken"])
    }

    @Test func stepsOfAJoinedLoadAreShared() async {
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)], isOpen: false)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        let first = Task.waiting { await loader.load("a").report.steps.map(\.origin) }
        let second = Task.waiting { await loader.load("a").report.steps.map(\.origin) }
        source.open()
        #expect(await first.value == [.done, .done, .done])
        #expect(await second.value == [.shared, .shared, .shared])
    }

    @Test func loadsWithDifferentReductionsShareTheFetch() async {
        let source = SketchSource(["a": SketchCodec.bytes(80, 80)], isOpen: false)
        var small = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        var large = small
        small.addPlugin(Shrink(to: 10, 10))
        large.addPlugin(Shrink(to: 80, 80))
        let reports = [small, large].map { loader in
            Task.waiting { await loader.load("a").report.steps.map(\.description) }
        }
        source.open()
        #expect(await reports[0].value == ["fetch", "decode", "Orient", "Shrink"])
        #expect(await reports[1].value == ["fetch (shared)", "decode", "Orient", "Shrink"])
    }

    @Test func failedFetchIsAStep() async {
        let loader = ImageLoader(source: SketchSource(), codec: SketchCodec(), timer: .still)
        let steps = await loader.load("a").report.steps
        #expect(steps.map(\.name) == ["fetch", "Orient"])
        #expect(steps.map(\.bytes) == [0, 0])
    }

    @Test func sharedFailureIsReportedAsShared() async {
        let source = SketchSource(isOpen: false)
        let plain = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        var (first, second) = (plain, plain)
        first.addPlugin(Shrink(to: 1, 1))
        second.addPlugin(Shrink(to: 2, 2))
        let loads = [first, second].map { loader in
            Task.waiting { await loader.load("a").report.steps.map(\.description) }
        }
        source.open()
        #expect(await loads[0].value.first == "fetch")
        #expect(await loads[1].value.first == "fetch (shared)")
        // The absence is cached now.
        #expect(await plain.load("a").report.steps.first?.description == "fetch (memory)")
    }

    @Test func reportOfAFailureListsTheStepsBeforeIt() async {
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)])
        let loader = ImageLoader(source: source, codec: SketchCodec(), limits: ImageLimits(pixels: 1), timer: .still)
        let report = await loader.load("a").report
        #expect(report.steps.first?.name == "fetch" && report.size == nil)
        #expect(report.steps.dropFirst().allSatisfy { $0.bytes == 0 })
    }

    @Test func stepsAndLoadHaveDurations() async {
        let clock = ManualClock()
        let timer = TimerService(clock)
        clock.advance(by: .seconds(5))
        let codec = SketchCodec { clock.advance(by: .seconds(2)) }
        let source = SketchSource(["a": SketchCodec.bytes(8, 4)])
        let report = await ImageLoader(source: source, codec: codec, timer: timer).load("a").report
        #expect(report.steps.map(\.duration) == [.zero, .seconds(2), .zero])
        #expect(report.duration == .seconds(2))
    }

    /// With a sizing plugin, the image is fetched before its reduction is known.
    @Test(arguments: [false, true]) func failedFetchHasADuration(isSized: Bool) async {
        let clock = ManualClock()
        let timer = TimerService(clock)
        clock.advance(by: .seconds(5))
        var loader = ImageLoader(source: SlowSource(clock: clock), codec: SketchCodec(), timer: timer)
        if isSized { loader.addPlugin(Shrink(to: 1, 1)) }
        let report = await loader.load("a").report
        #expect(report.steps.first?.name == "fetch")
        #expect(report.steps.first?.duration == .seconds(2))
        #expect(report.duration == .seconds(2))
    }

    @Test func imageFromAStoreHasADuration() async {
        let clock = ManualClock()
        let codec = SketchCodec { clock.advance(by: .seconds(3)) }
        let loader = ImageLoader(
            source: SketchSource(["a": SketchCodec.bytes(8, 4)]),
            codec: codec,
            cache: ImageCache(bytes: 0),
            store: SketchStore(),
            timer: TimerService(clock)
        )
        _ = await loader.load("a")
        let report = await loader.load("a").report
        #expect(report.steps.map(\.name) == ["store"])
        #expect(report.steps.map(\.duration) == [.seconds(3)])
        #expect(report.steps.map(\.bytes) == [128])
    }
}
