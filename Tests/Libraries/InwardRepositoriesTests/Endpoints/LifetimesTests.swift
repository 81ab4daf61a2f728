import InwardCore
import Testing

@testable import InwardRepositories

struct LifetimesTests {
    @Test func whatIsNegativeIsTakenForZero() {
        let lifetimes = Lifetimes(
            fresh: .seconds(-1),
            staleWhileRevalidating: .seconds(-1),
            staleOnError: .seconds(-1),
            kept: .seconds(-1),
            absence: .seconds(-1),
            spread: -1
        )
        let nothing = Lifetimes(
            fresh: .zero,
            staleWhileRevalidating: .zero,
            staleOnError: .zero,
            kept: .zero,
            absence: .zero,
            spread: 0
        )
        #expect(lifetimes == nothing)
        #expect(Lifetimes(spread: 7).spread == 1)
        #expect(Lifetimes(spread: .nan).spread == 0)
    }

    @Test func whatIsSetLaterIsWithinTheSameLimits() {
        var lifetimes = Lifetimes(fresh: .seconds(100))
        lifetimes.spread = .nan
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .seconds(100))
        lifetimes.spread = .infinity
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .zero)
        lifetimes.kept = .seconds(-1)
        #expect(lifetimes.kept == .zero)
    }

    @Test func theLongestOnesCanBeAdded() {
        let longest = Duration.seconds(Int64.max) * 18
        let lifetimes = Lifetimes(
            fresh: longest,
            staleWhileRevalidating: longest,
            staleOnError: longest,
            kept: longest,
            spread: 0
        )
        let kept = KeptAnswer(
            value: 7,
            time: .seconds(100),
            staleTime: .seconds(100) + lifetimes.freshness(isAbsent: false, chance: 0)
        )
        #expect(kept.use(.nearest, at: .seconds(200), lifetimes) == .given(isStale: false))
        #expect(kept.use(.nearest, at: kept.staleTime, lifetimes, hasFailed: true) == .notGiven)
        #expect(kept.staleTime + lifetimes.staleOnError > kept.staleTime)
    }

    @Test func freshnessEndsEarlyByAShareOfIt() {
        let lifetimes = Lifetimes(fresh: .seconds(100), absence: .seconds(10), spread: 0.5)
        #expect(lifetimes.freshness(isAbsent: false, chance: 0) == .seconds(100))
        #expect(lifetimes.freshness(isAbsent: false, chance: 0.5) == .seconds(75))
        #expect(lifetimes.freshness(isAbsent: false, chance: 1) == .seconds(50))
        #expect(lifetimes.freshness(isAbsent: true, chance: 1) == .seconds(5))
    }

    @Test func absenceIsNotRememberedForLongerThanAnAnswerIsFresh() {
        let lifetimes = Lifetimes(fresh: .seconds(1), absence: .seconds(10))
        #expect(lifetimes.freshness(isAbsent: true, chance: 0) == .seconds(1))
    }
}
