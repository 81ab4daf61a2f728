import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ResponseEntriesTests {
    private let key = CacheKey(partition: 1, url: "http://upstream.test/")

    private func response(number: Int) throws -> StoredResponse {
        let moment = CacheMoment(uptime: .zero, date: Date(timeIntervalSince1970: 0))
        return try #require(
            StoredResponse(
                DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")], body: Data("\(number)".utf8)),
                to: CacheRequest(.example()),
                sent: moment,
                arrival: moment,
                number: number,
                policy: .shared
            )
        )
    }

    /// What replaced the response may have been evicted by then, so that its absence proves nothing.
    @Test(
        arguments: [
            { entries, key, newer in _ = entries.store(newer, replacing: nil, for: key, limit: 1) },
            { entries, key, newer in _ = entries.outdate(nil, by: newer.number, for: key) },
            { entries, key, newer in _ = entries.invalidate(key, upTo: newer.number) },
        ] as [@Sendable (inout ResponseEntries, CacheKey, StoredResponse) -> Void]
    )
    func searchBringsBackNothingThatHasChangedMeanwhile(
        change: @Sendable (inout ResponseEntries, CacheKey, StoredResponse) -> Void
    ) throws {
        // Nothing fits.
        var entries = ResponseEntries(byteLimit: 1)
        let older = try response(number: 1)
        let changes = entries.begin(key)
        #expect(entries.load([older], for: key, since: changes) != nil)
        change(&entries, key, try response(number: 2))
        #expect(entries.peek(key).isEmpty)
        #expect(entries.load([older], for: key, since: changes) == nil)
        #expect(entries.load([older], for: key, since: entries.begin(key)) != nil)
    }
}
