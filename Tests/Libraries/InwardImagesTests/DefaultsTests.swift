import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardImages

/// Tests the defaults of the public API. Services rely on them, so announce a change of a default to users.
struct DefaultsTests {
    @Test(.timeLimit(.minutes(5))) func prefetchLoadsFourImagesAtATime() async {
        let source = CountingImageSource(gathering: 4)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        await loader.prefetch((0..<12).map { ImageAddress("\($0)") })
        #expect(source.maximumAtOnce == 4)
    }

    @Test func limitsAndBudgetHaveDefaults() {
        let limits = ImageLimits()
        #expect(limits.encodedBytes == 33_554_432)
        #expect(limits.pixels == 50_000_000)
        #expect(limits.side == 16_384)
        #expect(limits.decodingTime == .seconds(30))
        #expect(DecodingBudget().limit == 536_870_912)
    }

    @Test func imagesAreCachedForFiveMinutesAndAbsenceForTenSeconds() {
        let clock = ManualClock()
        let cache = ImageCache(timer: TimerService(clock))
        #expect(cache.expiry == .seconds(300))
        let partition = cache.makePartition()
        let address: ImageAddress = "a"
        let version = cache.version(of: address, in: partition)
        cache.keep(
            ImageError(.notFound, of: address, explanation: "does not exist"),
            of: address,
            in: partition,
            since: version
        )
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(cache.header(of: address, in: partition) != nil)
        clock.advance(by: .nanoseconds(1))
        #expect(cache.header(of: address, in: partition) == nil)
    }

    @Test func resizeFitsAndDoesNotEnlarge() {
        for resize in [Resize(width: 3, height: 2), Resize(to: ImageSize(clamping: 3, 2))] {
            #expect(resize.mode == .fit)
            #expect(!resize.enlarges)
        }
    }

    @Test func watermarkIsTranslucentAtTheBottomRight() {
        let watermark = Watermark(.text("A", .black))
        #expect(watermark.placement == .single(.bottomRight, margin: 0.03))
        #expect(watermark.width == .ofWidth(0.2))
        #expect(watermark.opacity == 0.8)
    }

    @Test func codecOptionsAndPluginsHaveDefaults() {
        #expect(ImageEncoding(.jpeg) == ImageEncoding(.jpeg, quality: 80, subsampling: .quarter))
        #expect(ImageEncoding.jpeg() == ImageEncoding(.jpeg))
        #expect([-1, 0, 1, 60, 100, 101].map { ImageEncoding(.jpeg, quality: $0).quality } == [1, 1, 1, 60, 100, 100])
        #expect(ImageDecodingOptions().reduction == 1 && !ImageDecodingOptions().allowsTruncation)
        #expect(EncodedImage([]).isGenuine)
        let size = ImageSize(clamping: 30, 20)
        #expect(isSame(Crop(to: size), as: Crop(to: size, at: .center), unlike: Crop(to: size, at: .topLeft)))
        #expect(
            isSame(
                Placeholder(size: size),
                as: Placeholder(size: size, color: Color(gray: 224), text: "?", textColor: Color(gray: 128)),
                unlike: Placeholder(size: size, color: Color(gray: 225))
            )
        )
    }

    @Test func colorIsOpaque() {
        #expect(Color(red: 1, green: 2, blue: 3) == Color(red: 1, green: 2, blue: 3, alpha: 255))
        #expect(Color(gray: 7) == Color(red: 7, green: 7, blue: 7, alpha: 255))
    }

    @Test func imageIsUprightAndClear() throws {
        let size = try #require(ImageSize(width: 1, height: 1))
        let image = Image(size: size)
        #expect(image.orientation == .up)
        #expect(image == Image(size: size, color: .clear))
        #expect(Image(size: size, bytes: [0, 0, 0, 0])?.orientation == .up)
    }
}
