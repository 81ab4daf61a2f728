import Testing

@testable import InwardRepositories

struct ChangeLogTests {
    private var log = ChangeLog()

    @Test mutating func changeDuringAFetchMakesItOutdated() {
        let before = log.begin()
        log.note(["posts", "1"])
        let later = log.begin()
        #expect(log.hasChanged(since: before) && log.haveChanged([["posts", "1"]], since: before))
        #expect(!log.haveChanged([["posts", "2"], ["posts"]], since: before))
        #expect(!log.hasChanged(since: later) && !log.haveChanged([["posts", "1"]], since: later))
    }

    @Test mutating func changeOfAKeyAffectsTheKeysUnderIt() {
        let tick = log.begin()
        log.note(["users", "7"])
        #expect(log.haveChanged([["posts", "1"], ["users", "7"]], since: tick))
        #expect(log.haveChanged([["users", "7", "posts"]], since: tick))
        #expect(!log.haveChanged([["users", "77"]], since: tick))
    }

    @Test mutating func changesAreForgottenWithoutFetches() {
        log.note(["posts", "1"])
        #expect(log.count == 0)
        let first = log.begin()
        log.note(["posts", "1"])
        let second = log.begin()
        log.note(["posts", "2"])
        log.end(first)
        #expect(log.count == 1 && log.haveChanged([["posts", "2"]], since: second))
        log.end(second)
        #expect(log.count == 0)
        log.end(second)
    }

    /// Both changes happen during the oldest fetch, regardless of the order in which the later fetches end.
    @Test(arguments: [[1, 2], [2, 1], [1], [2]])
    func oldestFetchStaysOutdatedWhenOthersEnd(ending: [Int]) {
        var log = ChangeLog()
        let oldest = log.begin()
        log.note(["posts", "1"])
        let middle = log.begin()
        log.note(["posts", "2"])
        let newest = log.begin()
        for number in ending { log.end(number == 1 ? middle : newest) }
        #expect(log.haveChanged([["posts", "1"]], since: oldest))
        #expect(log.haveChanged([["posts", "2"]], since: oldest))
    }

    @Test mutating func changesAreKeptUntilTheLastFetchOfATickEnds() {
        let ticks = [log.begin(), log.begin()]
        log.note(["posts", "1"])
        log.end(ticks[0])
        #expect(log.haveChanged([["posts", "1"]], since: ticks[1]))
    }

    @Test mutating func tooManyChangesCountAsAChangeOfEverything() {
        let tick = log.begin()
        for number in 0..<5_000 { log.note(["posts", String(number)]) }
        #expect(log.count <= 1_000)
        #expect(log.haveChanged([["users", "1"]], since: tick))
        let later = log.begin()
        #expect(!log.hasChanged(since: later))
    }

    @Test mutating func thousandChangesAreKeptIndividually() {
        let tick = log.begin()
        for number in 1...1_000 { log.note(["posts", String(number)]) }
        #expect(log.count == 1_000 && !log.haveChanged([["users", "1"]], since: tick))
        log.note(["posts", "1001"])
        #expect(log.count == 1 && log.haveChanged([["users", "1"]], since: tick))
    }
}
