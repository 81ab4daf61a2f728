import TestSupport
import Testing

@testable import InwardImages

struct DecodingBudgetTests {
    private let budget = DecodingBudget(bytes: 10)

    @Test func aShareGoesBackWhenNobodyHoldsItAnyMore() async {
        var share = await budget.decodingRoom.reservation(of: 7)
        #expect(share != nil && budget.taken == 7)
        share = nil
        #expect(budget.taken == 0)
    }

    @Test func whoWaitsHasItsShareWhenThereIsRoom() async {
        var share = await budget.decodingRoom.reservation(of: 7)
        let waiting = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 4) != nil }
        #expect(share != nil && budget.taken == 7)
        share = nil
        #expect(await waiting.value)
        #expect(budget.taken == 0)
    }

    @Test func whoGivesUpTakesNothingAndLetsTheNextOneIn() async {
        let share = await budget.decodingRoom.reservation(of: 7)
        let large = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 10) == nil }
        let small = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 3) != nil }
        large.cancel()
        #expect(await large.value)
        #expect(await small.value)
        #expect(share != nil && budget.taken == 7)
    }
}
