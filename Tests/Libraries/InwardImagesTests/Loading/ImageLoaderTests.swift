import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

struct ImageLoaderTests {
    private let source = SketchSource(["a": SketchCodec.bytes(8, 4, gray: 100), "b": SketchCodec.bytes(2, 2, gray: 50)])
    private let codec = SketchCodec()

    private func loader() -> ImageLoader { ImageLoader(source: source, codec: codec, timer: .still) }

    @Test func imageIsReturnedAsDecodedWithoutPlugins() async throws {
        let image = try await loader().loadImage(from: "a")
        #expect(image == Image(size: ImageSize(clamping: 8, 4), color: Color(gray: 100)))
    }

    @Test func pluginsAreAppliedInTheOrderInWhichTheyAreAdded() async throws {
        var loader = loader()
        loader.addPlugin(Darken(by: 90))
        loader.addPlugin(
            CustomPlugin(identity: "half") { (value: ImageResult) in
                value.map { Image(size: $0.size, color: Color(gray: $0[0, 0].red / 2)) }
            }
        )
        #expect(try await loader.loadImage(from: "a")[0, 0].red == 5)
    }

    /// A load starts on the caller's thread, and an image in memory is returned without leaving it. The plugin must run on the
    /// loader's executor, which here runs nothing before it is drained.
    @Test(.timeLimit(.minutes(5))) func pluginsAreNotAppliedOnTheCallersThread() async throws {
        let applied = Counter()
        let scheduler = DeterministicScheduler(seed: 1)
        let plain = ImageLoader(source: source, codec: codec, timer: .still, executor: scheduler.executor)
        try await scheduler.run { _ = await plain.load("a") }
        var dark = plain
        dark.addPlugin(Darken(by: 1, applied))
        let load = Task.waiting { [dark] in await dark.load("a").report.steps.map(\.description) }
        #expect(applied.value == 0)
        try await scheduler.drain()
        #expect(await load.value == ["Orient (memory)", "Darken"])
        #expect(applied.value == 1)
    }

    @Test func copiesHaveTheirOwnPluginsAndPluginsCanBeRemoved() async throws {
        let plain = loader()
        var dark = plain
        dark.addPlugin(Darken(by: 1))
        #expect(try await plain.loadImage(from: "a")[0, 0].red == 100)
        #expect(try await dark.loadImage(from: "a")[0, 0].red == 99)
        dark.removePlugin(Darken(by: 1))
        #expect(try await dark.loadImage(from: "a")[0, 0].red == 100)
        #expect(source.asked == ["a"])
    }

    @Test(arguments: [false, true]) func loadersWithEqualFirstPluginsShareTheWork(atOnce: Bool) async {
        let source = SketchSource(["a": SketchCodec.bytes(800, 400)], isOpen: !atOnce)
        let resized = Counter()
        var first = ImageLoader(source: source, codec: codec, timer: .still)
        first.addPlugin(Shrink(to: 100, 50, resized))
        var second = first
        first.addPlugin(Darken(by: 1))
        second.addPlugin(Darken(by: 2))
        let tasks = [first, second].map { loader in
            Task.waiting { await loader.load("a").result.map { $0[0, 0].red } }
        }
        if atOnce { source.open() }
        #expect(await tasks[0].value == .success(8))
        #expect(await tasks[1].value == .success(7))
        #expect(source.asked == ["a"])
        #expect(codec.decoded == [8])
        #expect(resized.value == 1)
    }

    @Test(arguments: [false, true]) func imageThatReplacesAFailureIsNotCached(atFirst: Bool) async throws {
        var loader = loader()
        if atFirst { loader.removePlugin(Orient()) }
        loader.addPlugin(Rescue())
        source.answer("a", .failure(ImageError(.unavailable, of: "a", explanation: "is unavailable")))
        #expect(try await loader.loadImage(from: "a").size.width == 1)
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(3, 3))))
        #expect(try await loader.loadImage(from: "a").size.width == 3)
    }

    @Test func substituteImageIsNotCached() async throws {
        let loader = loader()
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(1, 1), isGenuine: false)))
        #expect(try await loader.loadImage(from: "a").size.width == 1)
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(3, 3))))
        #expect(try await loader.loadImage(from: "a").size.width == 3)
    }

    @Test func errorNamesTheAddressWithoutSecrets() async {
        let result = await loader().load("https://ada:secret@example.org/cat.jpg?token=secret").result
        guard case .failure(let error) = result else {
            Issue.record("The image was loaded.")
            return
        }
        #expect(error.reason == .notFound)
        #expect(error.description == "The image https://example.org/cat.jpg is not there.")
    }

    @Test func errorOfAPluginNamesTheAddress() async {
        var loader = loader()
        loader.addPlugin(
            CustomPlugin(identity: 1) { (_: ImageResult) in
                .failure(ImageError(.damaged, explanation: "is damaged"))
            }
        )
        #expect(await loader.load("a").result == .failure(ImageError(.damaged, of: "a", explanation: "is damaged")))
    }

    @Test func prefetchedImagesAreInMemory() async {
        let source = SketchSource(
            Dictionary(uniqueKeysWithValues: (0..<9).map { (ImageAddress("\($0)"), SketchCodec.bytes(2, 2)) })
        )
        let loader = ImageLoader(source: source, codec: codec, timer: .still)
        await loader.prefetch((0..<9).map { ImageAddress("\($0)") }, atOnce: 3)
        #expect(source.asked.count == 9)
        #expect(await loader.load("8").report.steps.map(\.origin) == [.memory])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [(1, 1), (0, 1), (-1, 1), (3, 3)])
    func prefetchNeverExceedsItsConcurrencyLimit(limit: Int, most: Int) async {
        let source = CountingImageSource(gathering: most)
        let loader = ImageLoader(source: source, codec: codec, timer: .still)
        await loader.prefetch((0..<12).map { ImageAddress("\($0)") }, atOnce: limit)
        #expect(source.maximumAtOnce == most)
    }

    @Test func forgottenImageIsFetchedAgain() async throws {
        let loader = loader()
        for address in ["a", "b"] as [ImageAddress] { _ = try await loader.loadImage(from: address) }
        await loader.forget("a")
        for address in ["a", "b"] as [ImageAddress] { _ = try await loader.loadImage(from: address) }
        #expect(source.asked == ["a", "b", "a"])
        await loader.forget()
        _ = try await loader.loadImage(from: "b")
        #expect(source.asked == ["a", "b", "a", "b"])
    }

    @Test(arguments: [false, true]) func loadInFlightDuringForgetIsNeitherCachedNorJoined(isSized: Bool) async {
        let source = SketchSource(["a": SketchCodec.bytes(8, 8, gray: 1)], isOpen: false)
        var loader = ImageLoader(source: source, codec: codec, timer: .still)
        if isSized { loader.addPlugin(Shrink(to: 2, 2)) }
        let load = Task.waiting { [loader] in _ = await loader.load("a") }
        await loader.forget("a")
        let later = Task.waiting { [loader] in _ = await loader.load("a") }
        #expect(source.asked == ["a", "a"])
        await loader.forget("a")
        source.open()
        _ = await (load.value, later.value)
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(8, 8, gray: 2))))
        #expect(await loader.load("a").result.map { $0[0, 0].red } == .success(2))
        #expect(source.asked == ["a", "a", "a"])
    }

    @Test(arguments: [false, true]) func codecReceivesWhetherTruncationIsAllowed(isAllowed: Bool) async {
        let loader = ImageLoader(source: source, codec: codec, allowsTruncation: isAllowed, timer: .still)
        _ = await loader.load("a")
        #expect(codec.allowedTruncations == [isAllowed])
    }
}
