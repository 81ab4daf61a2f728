import Testing
import Thoroughness

@testable import InwardImages

struct WeightedSemaphoreTests {
    private enum Step: CaseIterable {
        case takeOne
        case takeThree
        case giveBack
        case leaveFirst
        case leaveLast
    }

    @Test func everySequenceOfStepsKeepsWhatMustHold() {
        var count = 0
        explore([], depth: Thoroughness.isExhaustive ? 7 : 6, count: &count)
        #expect(count > (Thoroughness.isExhaustive ? 50_000 : 15_000))
    }

    private func explore(_ steps: [Step], depth: Int, count: inout Int) {
        count += 1
        check(steps)
        guard depth > 0 else { return }
        for step in Step.allCases { explore(steps + [step], depth: depth - 1, count: &count) }
    }

    /// Goes through the steps beside a plain list of who holds what and who waits.
    private func check(_ steps: [Step]) {
        var queue = WeightedSemaphore<Int>(limit: 3)
        var amounts: [Int: Int] = [:]
        var holding: [Int] = []
        var waiting: [(name: Int, id: Int)] = []
        func admit(_ names: [Int]) {
            #expect(names == waiting.prefix(names.count).map(\.name), "\(steps): somebody overtook")
            waiting.removeFirst(names.count)
            holding += names
        }
        for (name, step) in steps.enumerated() {
            switch step {
            case .takeOne, .takeThree:
                let amount = step == .takeOne ? 1 : 3
                amounts[name] = amount
                if let place = queue.take(amount, orWait: name) {
                    waiting.append((place.waiter, place.id))
                } else {
                    #expect(waiting.isEmpty, "\(steps): somebody overtook")
                    holding.append(name)
                }
            case .giveBack:
                guard !holding.isEmpty else { break }
                admit(queue.giveBack(amounts[holding.removeFirst()] ?? 0))
            case .leaveFirst, .leaveLast:
                guard let left = step == .leaveFirst ? waiting.first : waiting.last else { break }
                waiting.removeAll { $0.id == left.id }
                admit(queue.leave(left.id))
                #expect(queue.leave(left.id).isEmpty)
            }
            let taken = holding.reduce(0) { $0 + (amounts[$1] ?? 0) }
            #expect(queue.taken == taken && taken <= 3, "\(steps)")
            #expect(queue.waitingCount == waiting.count, "\(steps)")
            if let next = waiting.first {
                #expect(taken + (amounts[next.name] ?? 0) > 3, "\(steps): it waits for nothing")
            }
        }
    }
}
