import InwardCore
import Testing

@testable import InwardScopes

@Suite(.timeLimit(.minutes(5)))
struct ScopeStateTests {
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
    func workIsListedNewestFirstUntilItEnds(order: [Int]) {
        var state = ScopeState(isOpen: true)
        let work = [TrackedWork(), TrackedWork(), TrackedWork()]
        let places = work.map { state.begin($0) }
        var running = [2, 1, 0]
        #expect(list(state, of: work) == running)
        for number in order {
            #expect(state.hasWork)
            let isInTime = state.end(places[number])
            #expect(isInTime)
            running.removeAll { $0 == number }
            #expect(list(state, of: work) == running)
        }
        #expect(!state.hasWork)
    }

    @Test func workThatBeginsAfterOtherWorkHasEndedIsTheNewest() {
        var state = ScopeState(isOpen: true)
        let work = [TrackedWork(), TrackedWork(), TrackedWork()]
        let first = state.begin(work[0])
        _ = state.begin(work[1])
        _ = state.end(first)
        _ = state.begin(work[2])
        #expect(list(state, of: work) == [2, 1])
    }

    @Test func placesAreNotUsedAgain() {
        var state = ScopeState(isOpen: true)
        let (first, second) = (TrackedWork(), TrackedWork())
        let place = state.begin(first)
        _ = state.end(place)
        let next = state.begin(second)
        #expect(next != place)
        // Ending work twice ends no other work.
        _ = state.end(place)
        #expect(list(state, of: [first, second]) == [1])
    }

    /// Returns the numbers of the pieces of work that the state lists.
    private func list(_ state: ScopeState, of work: [TrackedWork]) -> [Int?] {
        state.workNewestFirst.map { listed in work.firstIndex { listed as? TrackedWork === $0 } }
    }
}
