import InwardTesting
import Testing

struct ChaosPlanTests {
    @Test func valuesOutOfRangeAreClamped() {
        let plan = ChaosPlan(
            [.unreachable: -1, .failed: .nan, .garbled: 0.25],
            latency: .seconds(-2) ... .seconds(3),
            slowShare: 7,
            slowFactor: -3,
            retryAfter: .seconds(-1)
        )
        #expect(plan.shares == [.unreachable: 0, .failed: 0, .garbled: 0.25])
        #expect(plan.latency == .zero ... .seconds(3))
        #expect(plan.slowShare == 1)
        #expect(plan.slowFactor == 1)
        #expect(plan.retryAfter == .zero)
        #expect(ChaosPlan([:], latency: .seconds(-3) ... .seconds(-2)).latency == .zero ... .zero)
        #expect(ChaosPlan([.failed: .infinity]).shares == [.failed: 1])
    }

    @Test func sharesAreScaledToOne() {
        #expect(ChaosPlan([.failed: 1, .garbled: 1]).shares == [.failed: 0.5, .garbled: 0.5])
        #expect(ChaosPlan([.failed: 0.5, .garbled: 0.25]).shares == [.failed: 0.5, .garbled: 0.25])
    }

    @Test func descriptionListsTheFaults() {
        #expect(ChaosPlan.calm.description == "nothing")
        let plan = ChaosPlan(
            [.unavailable: 0.25, .unreachable: 0.5, .garbled: 0],
            latency: .seconds(1) ... .seconds(2),
            slowShare: 0.5
        )
        #expect(
            plan.description
                == "unreachable 50.0%, unavailable 25.0%, latency 1.0 seconds to 2.0 seconds, 50.0% take 100 times as long"
        )
    }
}
