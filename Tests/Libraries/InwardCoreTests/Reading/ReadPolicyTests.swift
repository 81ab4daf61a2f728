import InwardCore
import Testing

struct ReadPolicyTests {
    private let policies = [ReadPolicy.cacheFirst, .upstreamOnly, .cacheOnly, .upstreamFirst]

    @Test func policiesDescribeWhereAReadMayGo() {
        #expect(policies.map(\.allowsCopies) == [true, false, true, false])
        #expect(policies.map(\.asksUpstream) == [true, true, false, true])
        #expect(policies.map(\.fallsBackToCache) == [false, false, false, true])
        #expect(policies.map(\.description) == ["cache first", "upstream only", "cache only", "upstream first"])
    }

    @Test func everyPolicyAcceptsAMaximumAge() {
        for policy in policies {
            let young = policy.notOlder(than: .seconds(5))
            #expect(policy.maximumAge == nil && young.maximumAge == .seconds(5) && young != policy)
            #expect(young.allowsCopies == policy.allowsCopies && young.asksUpstream == policy.asksUpstream)
            #expect(young.fallsBackToCache == policy.fallsBackToCache)
            #expect(young.description == "\(policy), not older than 5.0 seconds")
        }
    }
}
