import Testing

@testable import InwardCore

struct FlightStateTests {
    private enum Step: CaseIterable {
        case joinFirst
        case join
        case leaveFirst
        case leaveSecond
        case complete
    }

    @Test func everySequenceOfStepsKeepsTheInvariants() {
        var count = 0
        explore([], depth: 7, count: &count)
        #expect(count > 5_000)
    }

    @Test func freedSlotIsReused() throws {
        var flight = FlightState<String, Int>()
        _ = flight.joinFirst(0, of: Task {})
        guard case .waits(_, let slot) = flight.join(1) else { throw SlotNotAssigned() }
        #expect(flight.leave(slot: slot, goesOn: true) == nil)
        guard case .waits(_, let next) = flight.join(2) else { throw SlotNotAssigned() }
        #expect(next == slot)
    }

    private struct SlotNotAssigned: Error {}

    /// Checks a sequence of steps, and all longer sequences that start with it.
    private func explore(_ steps: [Step], depth: Int, count: inout Int) {
        count += 1
        check(steps)
        guard depth > 0 else { return }
        let hasJoinedFirst = steps.contains(.joinFirst)
        for step in Step.allCases {
            switch step {
            case .joinFirst where hasJoinedFirst, .complete where steps.contains(.complete): continue
            case .leaveFirst where !hasJoinedFirst: continue
            default: explore(steps + [step], depth: depth - 1, count: &count)
            }
        }
    }

    private func check(_ steps: [Step]) {
        var flight = FlightState<String, Int>()
        let task = Task<Void, Never> {}
        var waiters: [Int] = []
        var names: [Int: Int] = [:]
        var waiting: Set<Int> = []
        var firstIsWaiting = true
        var firstSlot: Int?
        var completed = false
        var isAbandoned = false
        for (name, step) in steps.enumerated() {
            switch step {
            case .joinFirst, .join:
                let joining = step == .join ? flight.join(name) : flight.joinFirst(name, of: task)
                switch joining {
                case .waits(let waiter, let slot):
                    #expect(waiter == name)
                    #expect(!completed && !isAbandoned, "\(steps)")
                    waiters.append(slot)
                    names[slot] = name
                    waiting.insert(name)
                    if step == .joinFirst { firstSlot = slot }
                case .completed(let answer): #expect(completed && answer == "answer", "\(steps)")
                case .abandoned: #expect(isAbandoned && !completed, "\(steps)")
                }
            case .leaveFirst, .leaveSecond:
                guard let slot = step == .leaveFirst ? firstSlot : waiters.first(where: { $0 != firstSlot }) else {
                    break
                }
                let isLast = flight.leave(slot: slot, goesOn: false) != nil
                let wasWaiting = names[slot].map { waiting.remove($0) != nil } ?? false
                if step == .leaveFirst, wasWaiting { firstIsWaiting = false }
                #expect(isLast == (wasWaiting && !completed && waiting.isEmpty && !firstIsWaiting), "\(steps)")
                if isLast { isAbandoned = true }
            case .complete:
                #expect(Set(flight.complete("answer")) == waiting, "\(steps)")
                completed = true
                waiting = []
            }
            if firstSlot == nil { firstIsWaiting = true }
        }
    }
}
