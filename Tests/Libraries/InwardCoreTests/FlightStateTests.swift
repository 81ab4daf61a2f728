import Testing

@testable import InwardCore

struct FlightStateTests {
    private enum Step: CaseIterable {
        case seatFirst
        case board
        case leaveFirst
        case leaveSecond
        case land
    }

    @Test func everySequenceOfStepsKeepsWhatMustHold() {
        var count = 0
        explore([], depth: 7, count: &count)
        #expect(count > 5_000)
    }

    @Test func aSeatThatWasLeftIsGivenToTheNext() throws {
        var flight = FlightState<String, Int>()
        _ = flight.seatFirst(0, of: Task {})
        guard case .waits(_, let seat) = flight.board(1) else { throw SeatNotGiven() }
        #expect(flight.leave(seat: seat, goesOn: true) == nil)
        guard case .waits(_, let next) = flight.board(2) else { throw SeatNotGiven() }
        #expect(next == seat)
    }

    private struct SeatNotGiven: Error {}

    /// Takes every step that is possible behind others, and looks at what came of all of them.
    private func explore(_ steps: [Step], depth: Int, count: inout Int) {
        count += 1
        check(steps)
        guard depth > 0 else { return }
        let seated = steps.contains(.seatFirst)
        for step in Step.allCases {
            switch step {
            case .seatFirst where seated, .land where steps.contains(.land): continue
            case .leaveFirst where !seated: continue
            default: explore(steps + [step], depth: depth - 1, count: &count)
            }
        }
    }

    private func check(_ steps: [Step]) {
        var flight = FlightState<String, Int>()
        let task = Task<Void, Never> {}
        var seats: [Int] = []
        var names: [Int: Int] = [:]
        var waiting: Set<Int> = []
        var firstIsAboard = true
        var firstSeat: Int?
        var landed = false
        var isAbandoned = false
        for (name, step) in steps.enumerated() {
            switch step {
            case .seatFirst, .board:
                let boarding = step == .board ? flight.board(name) : flight.seatFirst(name, of: task)
                switch boarding {
                case .waits(let waiter, let seat):
                    #expect(waiter == name)
                    #expect(!landed && !isAbandoned, "\(steps)")
                    seats.append(seat)
                    names[seat] = name
                    waiting.insert(name)
                    if step == .seatFirst { firstSeat = seat }
                case .landed(let answer): #expect(landed && answer == "answer", "\(steps)")
                case .abandoned: #expect(isAbandoned && !landed, "\(steps)")
                }
            case .leaveFirst, .leaveSecond:
                guard let seat = step == .leaveFirst ? firstSeat : seats.first(where: { $0 != firstSeat }) else {
                    break
                }
                let isLast = flight.leave(seat: seat, goesOn: false) != nil
                let wasWaiting = names[seat].map { waiting.remove($0) != nil } ?? false
                if step == .leaveFirst, wasWaiting { firstIsAboard = false }
                #expect(isLast == (wasWaiting && !landed && waiting.isEmpty && !firstIsAboard), "\(steps)")
                if isLast { isAbandoned = true }
            case .land:
                #expect(Set(flight.land("answer")) == waiting, "\(steps)")
                landed = true
                waiting = []
            }
            if firstSeat == nil { firstIsAboard = true }
        }
    }
}
