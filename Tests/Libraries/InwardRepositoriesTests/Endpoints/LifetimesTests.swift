import InwardCore
import Testing

@testable import InwardRepositories

struct LifetimesTests {
    @Test func negativeLifetimesBecomeZero() {
        let lifetimes = Lifetimes(
            staleAfter: .seconds(-1),
            staleWhileRevalidate: .seconds(-1),
            staleIfError: .seconds(-1),
            expiresAfter: .seconds(-1),
            missingExpiresAfter: .seconds(-1),
            jitter: -1
        )
        let nothing = Lifetimes(
            staleAfter: .zero,
            staleWhileRevalidate: .zero,
            staleIfError: .zero,
            expiresAfter: .zero,
            missingExpiresAfter: .zero,
            jitter: 0
        )
        #expect(lifetimes == nothing)
        #expect(Lifetimes(jitter: 7).jitter == 1)
        #expect(Lifetimes(jitter: .nan).jitter == 0)
    }

    @Test func valuesSetLaterAreClampedToo() {
        var lifetimes = Lifetimes(staleAfter: .seconds(100))
        lifetimes.jitter = .nan
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .seconds(100))
        lifetimes.jitter = .infinity
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .zero)
        lifetimes.expiresAfter = .seconds(-1)
        #expect(lifetimes.expiresAfter == .zero)
    }

    @Test func longestLifetimesDoNotOverflowWhenAdded() {
        let longest = Duration.seconds(Int64.max) * 18
        let lifetimes = Lifetimes(
            staleAfter: longest,
            staleWhileRevalidate: longest,
            staleIfError: longest,
            expiresAfter: longest,
            jitter: 0
        )
        let kept = KeptAnswer(
            value: 7,
            time: .seconds(100),
            staleTime: .seconds(100) + lifetimes.freshness(isAbsent: false, chance: 0)
        )
        #expect(kept.use(.cacheFirst, at: .seconds(200), lifetimes) == .given(isStale: false))
        #expect(kept.use(.cacheFirst, at: kept.staleTime, lifetimes, hasFailed: true) == .notGiven)
        #expect(kept.staleTime + lifetimes.staleIfError > kept.staleTime)
    }

    @Test func jitterShortensFreshness() {
        let lifetimes = Lifetimes(staleAfter: .seconds(100), missingExpiresAfter: .seconds(10), jitter: 0.5)
        #expect(lifetimes.freshness(isAbsent: false, chance: 0) == .seconds(100))
        #expect(lifetimes.freshness(isAbsent: false, chance: 0.5) == .seconds(75))
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .seconds(50))
        #expect(lifetimes.freshness(isAbsent: true, chance: 1) == .seconds(5))
    }

    @Test func absenceExpiresNoLaterThanFreshness() {
        let lifetimes = Lifetimes(staleAfter: .seconds(1), missingExpiresAfter: .seconds(10))
        #expect(lifetimes.freshness(isAbsent: true, chance: 0) == .seconds(1))
    }
}
