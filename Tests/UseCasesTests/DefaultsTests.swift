import Entities
import InwardTesting
import Testing

@testable import UseCases

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func anErrorDoesNotPromiseThatARetryHelps() {
        let error = RepositoryError(.unavailable, request: "GET /users", explanation: "failed")
        #expect(!error.canRetry)
        #expect(error.retryAfter == nil)
    }

    @Test func aReadingIsNewFreshAndWhole() {
        let reading = Reading(1, origin: .upstream)
        #expect(reading.age == .zero)
        #expect(!reading.isStale && !reading.isPending)
        #expect(reading.rejected.isEmpty && reading.degradation == nil)
    }

    /// A thousand reports wait beside the one that is being saved, and go a hundred at a time.
    @Test(.timeLimit(.minutes(5))) func reportsWaitInThousandsAndGoInHundreds() async {
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let handler = IgnoringErrorHandler().reporting(through: saver)
        handler.handle(ExampleError("first"))
        await begun.arrive()
        for number in 0...1_000 { handler.handle(ExampleError(number)) }
        #expect(handler.lostCount == 1)
        await released.arrive()
        await handler.close()
        let counts = saver.saved.map { bytes in bytes.count { $0 == UInt8(ascii: "\n") } }
        #expect(counts.prefix(10) == [1, 101, 100, 100, 100, 100, 100, 100, 100, 100], "\(counts)")
    }

    @Test(.timeLimit(.minutes(5))) func fourPicturesAreLoadedAheadAtOnce() async {
        let source = CountingImageSource(gathering: 4)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        await loader.prefetch((0..<12).map { ImageAddress("\($0)") })
        #expect(source.mostAtOnce == 4)
    }

    @Test func picturesHaveLimits() {
        let limits = ImageLimits()
        #expect(limits.encodedBytes == 33_554_432)
        #expect(limits.pixels == 50_000_000)
        #expect(limits.side == 16_384)
        #expect(limits.decodingTime == .seconds(30))
        #expect(DecodingBudget().limit == 536_870_912)
    }

    @Test func picturesAreKeptForFiveMinutesAndTheirAbsenceForTenSeconds() {
        let clock = ManualClock()
        let cache = ImageCache(timer: TimerService(clock))
        #expect(cache.expiry == .seconds(300))
        let partition = cache.makePartition()
        let address: ImageAddress = "a"
        let version = cache.version(of: address, in: partition)
        cache.keep(
            ImageError(.notFound, of: address, explanation: "is not there"),
            of: address,
            in: partition,
            since: version
        )
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(cache.header(of: address, in: partition) != nil)
        clock.advance(by: .nanoseconds(1))
        #expect(cache.header(of: address, in: partition) == nil)
    }

    @Test func aResizedPictureKeepsItsProportionsAndIsNotEnlarged() {
        for resize in [Resize(width: 3, height: 2), Resize(to: ImageSize(clamping: 3, 2))] {
            #expect(resize.mode == .fit)
            #expect(!resize.enlarges)
        }
    }

    @Test func aPartOfWhichNothingIsSaidHasNothing() {
        let part = SavedPart(source: nil, validator: nil, steps: nil)
        #expect(part.loadedByteCount == 0 && part.savedByteCount == 0)
        #expect(part.checksum == 0)
        #expect(!part.canBeResumed)
    }

    @Test func mirrorsAndTransfersHaveLimits() {
        let mirror = MirrorLimits()
        #expect(mirror.maximumListByteCount == 67_108_864)
        #expect(mirror.maximumImageByteCount == 33_554_432)
        #expect(mirror.maximumImageCount == 100_000)
        #expect(mirror.maximumTotalByteCount == 4_294_967_296)
        let transfer = TransferLimits()
        #expect(transfer.maximumByteCount == 17_179_869_184)
        #expect(transfer.minimumPieceByteCount == 1_024)
        #expect(TransferLimits.smallPieceCount == 1_000)
    }

    @Test func aWatermarkIsAtTheBottomRightAFifthAsWideAndCanBeSeenThrough() {
        let watermark = Watermark(.text("A", .black))
        #expect(watermark.placement == .single(.bottomRight, margin: 0.03))
        #expect(watermark.width == .ofWidth(0.2))
        #expect(watermark.opacity == 0.8)
    }

    @Test func picturesAreWrittenAsMostDo() {
        #expect(ImageEncoding(.jpeg) == ImageEncoding(.jpeg, quality: 80, subsampling: .quarter))
        #expect(ImageEncoding.jpeg() == ImageEncoding(.jpeg))
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

    @Test func aPageHasTwentyEntries() {
        #expect(FeedQuery().pageSize == 20)
    }

    @Test func whatIsGatheredHasAtMost8MiB() async throws {
        #expect(Checksum() == Checksum(value: 0))
        #expect(!DataLoaderError(source: "The source", explanation: "is gone").meansAbsence)
        let part = SavedPart(source: nil, validator: nil, steps: nil)
        var draft = RecordingDataSaver().gatheredDraft()
        try await draft.begin()
        try await draft.append([UInt8](repeating: 7, count: 8 * 1_024 * 1_024), reaching: part)
        var error: DataSaverError?
        do { try await draft.append([7], reaching: part) } catch let caught { error = caught }
        #expect(error != nil)
    }

    @Test func aThousandKindsOfErrorsAreRemembered() {
        struct NumberedError: Error, Hashable, CustomStringConvertible {
            let number: Int
            var description: String { "The error \(number)" }
        }
        let recorder = RecordingErrorHandler()
        let handler = recorder.droppingRepeats(within: .seconds(60), clock: ManualClock())
        func count() -> Int { recorder.errors.count { $0 is NumberedError } }
        for number in 0..<1_000 { handler.handle(NumberedError(number: number)) }
        handler.handle(NumberedError(number: 0))
        #expect(count() == 1_000)
        // This takes the place of the oldest.
        handler.handle(NumberedError(number: 1_000))
        handler.handle(NumberedError(number: 0))
        #expect(count() == 1_002)
    }
}

/// Whether two values have the same parts, as a dump shows them, and another does not.
private func isSame<Value>(_ value: Value, as other: Value, unlike different: Value) -> Bool {
    let texts = [value, other, different].map { value in
        var text = ""
        dump(value, to: &text)
        // A set has no order.
        return text.split(separator: "\n").sorted()
    }
    return texts[0] == texts[1] && texts[0] != texts[2]
}
