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
}
