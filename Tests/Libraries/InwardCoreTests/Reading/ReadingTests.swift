import InwardCore
import TestSupport
import Testing

struct ReadingTests {
    @Test func mappedReadingKeepsItsProvenance() {
        let rejected = [RejectedRecord(list: "users", position: 0, field: nil, reason: "is null")]
        let reading = Reading([1, 2], origin: .upstream, rejected: rejected).map(\.count)
        #expect(reading == Reading(2, origin: .upstream, rejected: rejected))
        #expect(reading.fallbackReason == nil)
    }

    @Test func mappedReadingKeepsItsFallbackReason() {
        let reading = Reading([1, 2], origin: .memory, fallbackReason: .example(.unavailable)).map(\.count)
        #expect(reading.fallbackReason == .example(.unavailable))
        #expect(reading == Reading(2, origin: .memory, fallbackReason: .example(.unavailable)))
        #expect(reading != Reading(2, origin: .memory))
    }

    @Test func rejectedRecordNamesItsPosition() {
        let field = RejectedRecord(list: "users", position: 3, field: "address.geo.lat", reason: "is null")
        #expect(field.description == "users[3].address.geo.lat is null")
        let whole = RejectedRecord(list: "posts", position: 0, field: nil, reason: "is not an object")
        #expect(whole.description == "posts[0] is not an object")
    }

    @Test func policiesTellWhetherACopyIsAllowed() {
        #expect(ReadPolicy.cacheFirst.allowsCopies)
        #expect(!ReadPolicy.upstreamOnly.allowsCopies)
    }

    @Test func nearestOriginIsTheSmallest() {
        #expect([Origin.upstream, .memory, .store].sorted() == [.memory, .store, .upstream])
    }
}
