import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct KeyedLockTests {
    @Test func locksAreGrantedInTheOrderOfRequests() {
        var turns = KeyedLock()
        let first = turns.request([["a"]])
        let both = turns.request([["a"], ["b"]])
        let third = turns.request([["b"]])
        let other = turns.request([["c"]])
        let none = turns.request([])
        #expect([first, both, third, other, none].map(\.isGranted) == [true, false, false, true, true])
        #expect(turns.leave(none.ticket) == [])
        #expect(turns.leave(first.ticket) == [both.ticket])
        #expect(turns.leave(both.ticket) == [third.ticket])
        #expect(turns.leave(both.ticket) == [])
        #expect(turns.leave(third.ticket) == [])
        #expect(turns.leave(other.ticket) == [])
        #expect(turns.count == 0)
    }

    @Test func withdrawnRequestUnblocksTheNextOne() {
        var turns = KeyedLock()
        let first = turns.request([["a"]])
        let second = turns.request([["a"], ["b"]])
        let third = turns.request([["b"]])
        #expect(!third.isGranted)
        #expect(turns.leave(second.ticket) == [third.ticket])
        #expect(turns.leave(first.ticket) == [])
    }

    @Test func randomRequestsNeverShareASubjectAndAreAllGranted() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for walk in 0..<100 {
            var turns = KeyedLock()
            var granted: [Int: Set<RecordKey>] = [:]
            var waiting: [Int: Set<RecordKey>] = [:]
            func check() {
                let place: Comment = "The seed was \(seed), in the walk \(walk)."
                #expect(granted.values.map(\.count).reduce(0, +) == Set(granted.values.joined()).count, place)
                // The oldest waiting request waits for a lock that is granted to another one.
                if let first = waiting.keys.min() {
                    let taken = Set(granted.values.joined())
                    #expect(!(waiting[first] ?? []).isDisjoint(with: taken), place)
                }
                #expect(turns.count == granted.count + waiting.count, place)
            }
            func leave(_ ticket: Int) {
                granted[ticket] = nil
                waiting[ticket] = nil
                for next in turns.leave(ticket) {
                    #expect(waiting[next] != nil, "The seed was \(seed), in the walk \(walk).")
                    granted[next] = waiting.removeValue(forKey: next)
                }
            }
            for _ in 0..<100 {
                if Bool.random(using: &random) {
                    let subjects = Set(
                        (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                            RecordKey([String(Int.random(in: 0..<5, using: &random))])
                        }
                    )
                    let (ticket, isGranted) = turns.request(subjects)
                    if isGranted { granted[ticket] = subjects } else { waiting[ticket] = subjects }
                } else if let ticket = (granted.keys.sorted() + waiting.keys.sorted()).randomElement(using: &random) {
                    leave(ticket)
                }
                check()
            }
            while let ticket = granted.keys.min() {
                leave(ticket)
                check()
            }
            #expect(waiting.isEmpty, "The seed was \(seed), in the walk \(walk).")
        }
    }
}
