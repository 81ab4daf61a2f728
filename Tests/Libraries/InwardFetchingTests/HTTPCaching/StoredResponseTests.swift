import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct StoredResponseTests {
    /// Hits share the fields that one of them made. At any time, also at an earlier one, they are those that the time demands.
    @Test(arguments: [Duration.seconds(3), .milliseconds(2_600)])
    func hitsHaveTheFieldsOfTheirTime(lifetime: Duration) throws {
        let fields: HeaderFields = [HeaderField(.contentType, "text/plain")]
        let request = CacheRequest(try .example())
        let birth = Duration.milliseconds(-1_700)
        let stored = StoredResponse(
            status: .ok,
            headerFields: fields,
            body: StoredBody(Data("1".utf8)),
            range: nil,
            directives: ResponseDirectives(fields, for: .private),
            freshness: ResponseFreshness(birth: birth, lifetime: lifetime),
            date: Date(timeIntervalSince1970: 0),
            variant: try #require(Variant(of: DataResponse(), for: request, policy: .private)),
            isPersonal: false,
            number: 1
        )
        // Past the end of the lifetime, on and beside the full seconds of the age, and back.
        let ages = Array(0...6_000) + (0...6_000).reversed()
        for age in ages where age % 100 <= 1 || age % 100 == 99 {
            let uptime = birth + .milliseconds(age)
            let status = CacheStatus.hit.fieldValue(of: "A", remaining: stored.freshness.remaining(at: uptime))
            let expected = stored.answer(to: request, at: uptime, status)
            #expect(expected != nil)
            // Twice, because the second one finds the fields of the first.
            #expect(stored.answer(to: request, at: uptime, .hit, of: "A") == expected)
            #expect(stored.answer(to: request, at: uptime, .hit, of: "A") == expected)
        }
    }
}
