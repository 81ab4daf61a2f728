import TestSupport
import Testing

@testable import InwardImages

struct DecodingBudgetTests {
    private let budget = DecodingBudget(bytes: 10)

    @Test func reservationIsReturnedWhenItIsReleased() async {
        var share = await budget.decodingRoom.reservation(of: 7, for: 0)
        #expect(share != nil && budget.taken == 7)
        share = nil
        #expect(budget.taken == 0)
    }

    @Test func waiterIsAdmittedWhenMemoryIsReturned() async {
        var share = await budget.decodingRoom.reservation(of: 7, for: 0)
        let waiting = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 4, for: 0) != nil }
        #expect(share != nil && budget.taken == 7)
        share = nil
        #expect(await waiting.value)
        #expect(budget.taken == 0)
    }

    @Test func cancelledWaiterReservesNothingAndLetsTheNextOneIn() async {
        let share = await budget.decodingRoom.reservation(of: 7, for: 0)
        let large = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 10, for: 0) == nil }
        let small = Task.waiting { [budget] in await budget.decodingRoom.reservation(of: 3, for: 0) != nil }
        large.cancel()
        #expect(await large.value)
        #expect(await small.value)
        #expect(share != nil && budget.taken == 7)
    }
}
