import InwardCore
import Testing

struct ReadPolicyTests {
    private let policies = [ReadPolicy.nearest, .upstream, .local, .upstreamElseLocal]

    @Test func policiesSayHowFarAReadMayGo() {
        #expect(policies.map(\.allowsCopies) == [true, false, true, false])
        #expect(policies.map(\.asksUpstream) == [true, true, false, true])
        #expect(policies.map(\.takesLocalInstead) == [false, false, false, true])
        #expect(policies.map(\.description) == ["nearest", "upstream", "local", "upstream, else local"])
    }

    @Test func eachTakesALargestAge() {
        for policy in policies {
            let young = policy.notOlder(than: .seconds(5))
            #expect(policy.largestAge == nil && young.largestAge == .seconds(5) && young != policy)
            #expect(young.allowsCopies == policy.allowsCopies && young.asksUpstream == policy.asksUpstream)
            #expect(young.takesLocalInstead == policy.takesLocalInstead)
            #expect(young.description == "\(policy), not older than 5.0 seconds")
        }
    }
}
