import Testing

@testable import UseCases

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func mirrorsHaveLimits() {
        let mirror = MirrorLimits()
        #expect(mirror.maximumListByteCount == 67_108_864)
        #expect(mirror.maximumImageByteCount == 33_554_432)
        #expect(mirror.maximumImageCount == 100_000)
        #expect(mirror.maximumTotalByteCount == 4_294_967_296)
    }

    @Test func aPageHasTwentyEntries() {
        #expect(FeedQuery().pageSize == 20)
    }
}
