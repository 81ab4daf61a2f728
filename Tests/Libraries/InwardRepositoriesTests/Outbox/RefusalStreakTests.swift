import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct RefusalStreakTests {
    private func streak() -> RefusalStreak {
        RefusalStreak(OutboxPolicy(refusalsBeforePause: 2, initialPause: .seconds(10), maximumPause: .seconds(25)))
    }

    private func begin(_ streak: inout RefusalStreak, _ key: String, at now: Duration) -> Bool {
        streak.begin(key, at: now)
    }

    private func paused() -> RefusalStreak {
        var streak = streak()
        _ = streak.refuse("a", of: ["1"], because: "no", at: .zero)
        _ = streak.refuse("b", of: ["2"], because: "no", at: .zero)
        return streak
    }

    @Test func onlyDifferentSubjectsCount() {
        var streak = streak()
        for key in ["a", "b", "c"] {
            let outcome = streak.refuse(key, of: ["1"], because: "no", at: .zero)
            #expect(outcome == (true, false))
        }
        let last = streak.refuse("d", of: ["2"], because: "no", at: .zero)
        #expect(last == (true, true))
        #expect(streak.phase == .paused(until: .seconds(10)))
    }

    @Test func onlyOneProbeIsSentAndItsRefusalDoublesTheWait() {
        var streak = paused()
        var now = Duration.zero
        for wait in [10, 20, 25, 25] {
            now += .seconds(wait) - .seconds(1)
            let isEarly = begin(&streak, "p", at: now)
            now += .seconds(1)
            let isProbing = begin(&streak, "p", at: now)
            let isSecond = begin(&streak, "q", at: now)
            #expect([isEarly, isProbing, isSecond] == [false, true, false])
            // A refusal of a write that was sent before the pause does not count.
            let other = streak.refuse("z", of: ["9"], because: "no", at: now)
            #expect(other == (false, false))
            let probe = streak.refuse("p", of: ["3"], because: "no, at \(now)", at: now)
            #expect(probe == (true, false))
            #expect(streak.cause == "no, at \(now)")
        }
        let isProbing = begin(&streak, "p", at: now + .seconds(25))
        #expect(isProbing)
        streak.deliver()
        #expect(streak.phase == .running)
        let isRunning = begin(&streak, "q", at: now)
        #expect(isRunning)
        #expect(streak.subjects.isEmpty && streak.wait == .zero)
    }

    @Test func inconclusiveProbeAllowsAnotherOne() {
        var streak = paused()
        let isProbing = begin(&streak, "p", at: .seconds(10))
        #expect(isProbing)
        streak.end("other", nextProbeAt: .seconds(11))
        #expect(streak.phase == .probing("p"))
        streak.end("p", nextProbeAt: .seconds(11))
        let isEarly = begin(&streak, "q", at: .seconds(10))
        let isNext = begin(&streak, "q", at: .seconds(11))
        #expect([isEarly, isNext] == [false, true])
    }

    @Test func storedPauseIsRestoredWithinItsWait() throws {
        let record = paused().record(at: .seconds(4), OutboxStage.time)
        let bytes = record.bytes
        #expect(record.version == 1)
        #expect(record.waitMilliseconds == 10_000)
        let read = try RefusalStreak.Record.decoded(from: Data(bytes))
        var same = streak()
        same.restore(read, at: .zero, OutboxStage.time)
        #expect(same.phase == .paused(until: .seconds(6)))
        #expect(same.subjects == [["1"], ["2"]])
        // If the clock was set back, the pause is not longer than its wait.
        var later = streak()
        later.restore(read, at: .zero, OutboxStage.time.addingTimeInterval(-1_000_000))
        #expect(later.phase == .paused(until: .seconds(10)))
        // If the clock was set forward, the pause is over.
        var earlier = streak()
        earlier.restore(read, at: .zero, OutboxStage.time.addingTimeInterval(1_000_000))
        #expect(earlier.phase == .paused(until: .zero))
    }

    @Test func restoredSubjectsAreLimited() throws {
        let text = #"{"version":1,"subjects":[["1"],["2"],["3"]],"cause":"no","waitMilliseconds":1}"#
        var streak = streak()
        streak.restore(try RefusalStreak.Record.decoded(from: Data(text.utf8)), at: .zero, .distantPast)
        #expect(streak.subjects == [["1"], ["2"]])
        #expect(streak.phase == .running)
    }

    @Test func longCauseOfAPauseIsTruncatedToOneLine() throws {
        let cause = String(repeating: #"a line\nand more "#, count: 1_000)
        let text = #"{"version":1,"subjects":[],"cause":"\#(cause)","until":1000,"waitMilliseconds":1}"#
        let record = try RefusalStreak.Record.decoded(from: Data(text.utf8))
        var streak = streak()
        streak.restore(record, at: .zero, .distantPast)
        for cause in [record.pause?.cause, streak.cause] {
            #expect(cause?.count == 500 && cause?.contains("\n") == false)
        }
    }
}
