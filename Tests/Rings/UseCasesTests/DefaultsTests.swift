import Testing

@testable import UseCases

/// Default values. Services rely on them, so announce a change of a default in the release notes.
struct DefaultsTests {
    @Test func mirrorsAreLimitedByDefault() {
        let mirror = MirrorLimits()
        #expect(mirror.maximumListByteCount == 67_108_864)
        #expect(mirror.maximumImageByteCount == 33_554_432)
        #expect(mirror.maximumImageCount == 100_000)
        #expect(mirror.maximumTotalByteCount == 4_294_967_296)
    }

    @Test func pageHasTwentyEntriesByDefault() {
        #expect(FeedQuery().pageSize == 20)
    }
}
