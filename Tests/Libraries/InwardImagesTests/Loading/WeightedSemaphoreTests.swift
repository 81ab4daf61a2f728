import Testing
import Thoroughness

@testable import InwardImages

struct WeightedSemaphoreTests {
    private enum Step: CaseIterable {
        case takeOne
        case takeOneForAnother
        case takeThree
        case giveBack
        case leaveFirst
        case leaveLast
    }

    private struct Waiter {
        let name: Int
        let id: Int
        let party: Int
        let amount: Int
    }

    @Test func everySequenceOfStepsKeepsTheInvariants() {
        var count = 0
        explore([], depth: Thoroughness.isExhaustive ? 7 : 5, count: &count)
        #expect(count > (Thoroughness.isExhaustive ? 300_000 : 9_000))
    }

    private func explore(_ steps: [Step], depth: Int, count: inout Int) {
        count += 1
        check(steps)
        guard depth > 0 else { return }
        for step in Step.allCases { explore(steps + [step], depth: depth - 1, count: &count) }
    }

    /// Compares the semaphore with a simple model after each step: lists of holders and waiters.
    private func check(_ steps: [Step]) {
        var queue = WeightedSemaphore<Int>(limit: 3)
        var holding: [(party: Int, amount: Int)] = []
        var waiting: [Waiter] = []
        func held(_ party: Int) -> Int { holding.reduce(0) { $0 + ($1.party == party ? $1.amount : 0) } }
        /// Returns the first waiter of the party that holds the least. Between equal parties, the earlier waiter is first.
        func next() -> Waiter? {
            let firsts = [0, 1].compactMap { party in waiting.first { $0.party == party } }
            return firsts.min { (held($0.party), $0.id) < (held($1.party), $1.id) }
        }
        /// Admits waiters while they fit, and returns their names.
        func admit(_ room: Int) -> [Int] {
            guard let first = next(), first.amount <= room else { return [] }
            waiting.removeAll { $0.id == first.id }
            holding.append((first.party, first.amount))
            return [first.name] + admit(room - first.amount)
        }
        for (name, step) in steps.enumerated() {
            switch step {
            case .takeOne, .takeOneForAnother, .takeThree:
                let (amount, party) = (step == .takeThree ? 3 : 1, step == .takeOneForAnother ? 1 : 0)
                let first = next()
                if let place = queue.take(amount, for: party, orWait: name) {
                    waiting.append(Waiter(name: place.waiter, id: place.id, party: party, amount: amount))
                } else {
                    #expect(first.map { held($0.party) > held(party) } ?? true, "\(steps): \(name) overtook a waiter")
                    holding.append((party, amount))
                }
            case .giveBack:
                guard !holding.isEmpty else { break }
                let (party, amount) = holding[0]
                // Other parties are admitted while the party still counts as holding the amount.
                let others = admit(3 - queue.taken + amount)
                holding.removeFirst()
                let admitted = others + admit(3 - holding.reduce(0) { $0 + $1.amount })
                #expect(queue.giveBack(amount, of: party) == admitted, "\(steps): wrong waiters were admitted")
            case .leaveFirst, .leaveLast:
                guard let left = step == .leaveFirst ? waiting.first : waiting.last else { break }
                waiting.removeAll { $0.id == left.id }
                let admitted = admit(3 - queue.taken)
                #expect(queue.leave(left.id, of: left.party) == admitted, "\(steps): wrong waiters were admitted")
                #expect(queue.leave(left.id, of: left.party).isEmpty)
            }
            let taken = holding.reduce(0) { $0 + $1.amount }
            #expect(queue.taken == taken && taken <= 3, "\(steps)")
            #expect(queue.waitingCount == waiting.count, "\(steps)")
            if let next = next() { #expect(taken + next.amount > 3, "\(steps): a waiter that fits was not admitted") }
        }
    }

    @Test func partyMustLeaveAsMuchFreeAsItHolds() {
        var queue = WeightedSemaphore<Int>(limit: 12, leavingRoom: true)
        /// Takes amounts of 1 until the party has to wait, and returns how much it then holds.
        func fill(_ party: Int) -> Int {
            for count in 0... where queue.take(1, for: party, orWait: party) != nil { return count }
            return 0
        }
        #expect((0..<4).map { fill($0) } == [6, 3, 1, 1])
        // Returned amounts go to the parties that hold less, until all hold the same.
        var admitted: [Int] = []
        for _ in 0..<6 { admitted += queue.giveBack(1, of: 0) }
        #expect(admitted == [2, 3, 0])
    }

    @Test func partyThatHoldsNothingMayTakeEverything() {
        var queue = WeightedSemaphore<Int>(limit: 12, leavingRoom: true)
        #expect(queue.take(12, for: 0, orWait: 0) == nil)
        #expect(queue.take(1, for: 1, orWait: 1) != nil)
    }
}
