import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardImages

@Suite(.timeLimit(.minutes(5)))
struct EncodedImageLoadTests {
    private let budget = DecodingBudget(bytes: 10_000)

    private func loader(
        _ source: SketchSource = SketchSource(["a": SketchCodec.bytes(10, 10)]),
        cache: ImageCache = ImageCache(bytes: 0),
        store: (any ImageDataCache)? = nil,
        allowsTruncation: Bool = false,
        observer: (any ImageObserver)? = nil
    ) -> ImageLoader {
        ImageLoader(
            source: source,
            codec: SketchCodec(),
            cache: cache,
            budget: budget,
            store: store,
            allowsTruncation: allowsTruncation,
            timer: .still,
            observer: observer
        )
    }

    @Test func imageIsProcessedAndEncoded() async throws {
        var loader = loader()
        loader.addPlugin(Crop(to: ImageSize(clamping: 3, 2)))
        let encoded = try await loader.loadEncodedImage(from: "a") { image in
            #expect(image.size == ImageSize(clamping: 3, 2))
            return .png
        }
        #expect(encoded == EncodedImage(SketchCodec.bytes(3, 2)))
    }

    @Test func memoryForEncodingIsReservedTogetherWithDecoding() async throws {
        let encoded = try await loader().loadEncodedImage(from: "a") { _ in
            #expect(budget.taken == 800)
            return .png
        }
        #expect(encoded.isGenuine)
        // Everything is returned.
        #expect(await budget.decodingRoom.reservation(of: 10_000, for: 0) != nil)
    }

    @Test func encodingACachedImageWaitsForMemory() async throws {
        let loader = loader(cache: ImageCache(timer: .still))
        _ = try await loader.loadImage(from: "a")
        var most = await budget.decodingRoom.reservation(of: 9_900, for: 0)
        #expect(most != nil)
        let load = Task.waiting { [budget] in
            let encoded = try? await loader.loadEncodedImage(from: "a") { _ in
                // Only the memory of this load, so it has waited until the other was returned.
                #expect(budget.taken == 400)
                return .png
            }
            return encoded?.isGenuine
        }
        #expect(budget.taken == 9_900)
        most = nil
        #expect(await load.value == true)
    }

    @Test func imageFromAStoreIsEncodedWithinTheBudget() async throws {
        let store = SketchStore()
        for _ in 0..<2 {
            let encoded = try await loader(store: store).loadEncodedImage(from: "a") { _ in
                #expect(budget.taken >= 400)
                return .png
            }
            #expect(encoded.isGenuine)
        }
    }

    @Test func imageThatNeedsTooMuchMemoryToEncodeIsRejected() async {
        let loader = loader(SketchSource(["a": SketchCodec.bytes(40, 40)]))
        let error = await #expect(throws: ImageError.self) {
            try await loader.loadEncodedImage(from: "a") { _ in .png }
        }
        #expect(error?.reason == .tooLarge)
    }

    @Test func whatMustNotBeCachedIsNotGenuine() async throws {
        let source = SketchSource()
        source.answer("a", .success(EncodedImage(SketchCodec.bytes(1, 1), isGenuine: false)))
        source.answer("b", .success(EncodedImage(SketchCodec.bytes(1, 1))))
        #expect(try await loader(source).loadEncodedImage(from: "a") { _ in .png }.isGenuine == false)
        #expect(
            try await loader(source, allowsTruncation: true).loadEncodedImage(from: "b") { _ in .png }.isGenuine
                == false
        )
        var loader = loader(source)
        loader.addPlugin(Placeholder(size: ImageSize(clamping: 2, 2)))
        let placeholder = try await loader.loadEncodedImage(from: "c") { _ in .png }
        #expect(
            placeholder
                == EncodedImage(
                    SketchCodec.bytes(2, 2, gray: Int(Placeholder(size: ImageSize(clamping: 2, 2)).image[0, 0].red)),
                    isGenuine: false
                )
        )
    }

    @Test func encodingHasATimeLimit() async throws {
        let clock = ManualClock()
        for (seconds, outcome) in [(29, nil), (30, ImageError.Reason.timedOut)] {
            let loader = ImageLoader(
                source: SketchSource(["a": SketchCodec.bytes(2, 3)]),
                codec: SlowEncoder { clock.advance(by: .seconds(seconds)) },
                timer: TimerService(clock)
            )
            do throws(ImageError) {
                _ = try await loader.loadEncodedImage(from: "a") { _ in .png }
                #expect(outcome == nil)
            } catch {
                #expect(error.reason == outcome)
                #expect(error.description == "The image a took longer to encode than the 30.0 seconds allowed.")
            }
        }
    }

    @Test func observerSeesTheLoad() async throws {
        let observer = LoadCountingObserver()
        let loader = loader(observer: observer)
        _ = try await loader.loadEncodedImage(from: "a") { _ in .png }
        _ = try? await loader.loadEncodedImage(from: "b") { _ in .png }
        #expect(observer.results.withLock(\.self) == ["10×10", "notFound"])
        #expect(observer.surrounded.value == 2)
    }

    @Test func watermarkNamesTheCharactersThatItsFontLacks() {
        #expect(Watermark.missingCharacters(in: "Hello, ~ World!") == [])
        #expect(Watermark.missingCharacters(in: "é€é\n\r\n\u{7F}") == ["é", "€", "\n", "\r\n", "\u{7F}"])
        for code in 0x20..<0x7F as Range<UInt8> {
            #expect(Watermark.missingCharacters(in: String(Unicode.Scalar(code))) == [])
        }
    }
}

/// A codec that calls a function before it encodes an image.
private struct SlowEncoder: ImageCodec {
    let onEncode: @Sendable () -> Void

    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { try SketchCodec().header(of: bytes) }

    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try SketchCodec().image(from: bytes, options)
    }

    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        onEncode()
        try ImageCodecError.checkCancellation()
        return []
    }
}

private final class LoadCountingObserver: ImageObserver {
    let results = Mutex<[String]>([])
    let surrounded = Counter()

    func surroundLoad(_ address: ImageAddress, _ load: () async -> ImageLoad) async -> ImageLoad {
        surrounded.add()
        return await load()
    }

    func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {
        results.withLock { $0.append(load.result.outcome) }
    }
}
