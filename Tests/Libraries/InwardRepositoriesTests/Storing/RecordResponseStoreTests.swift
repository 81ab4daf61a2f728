import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RecordResponseStoreTests {
    private let records = RecordingRecordStore(InMemoryRecordStore(now: { now }))
    private let prefix: RecordKey = ["responses", "catalog"]

    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func makeStore(now: Date = now) -> RecordResponseStore {
        RecordResponseStore(records, under: prefix, now: { now })
    }

    private func response(_ body: String, expiresAfter seconds: Double = 1_000) -> KeptResponse {
        KeptResponse(
            metadata: Data("metadata".utf8),
            body: Data(body.utf8),
            expiry: Self.now.addingTimeInterval(seconds)
        )
    }

    private func bodies() async throws -> [String] {
        try await records.records(under: prefix.appending("bodies")).map {
            String(decoding: $0.record.bytes, as: UTF8.self)
        }
    }

    @Test func equalBodiesAreStoredOnce() async throws {
        let store = makeStore()
        try await store.commit([
            .keep([response("same"), response("same")], under: "a"), .keep([response("same")], under: "b"),
        ])
        try await store.commit([.keep([response("same")], under: "c"), .keep([response("other")], under: "d")])
        #expect(try await bodies().sorted() == ["other", "same"])
        #expect(try await store.responses(for: "c") == [response("same")])
    }

    @Test func bodyGoesWithTheLastResponseThatHasIt() async throws {
        let store = makeStore()
        try await store.commit([.keep([response("same")], under: "a"), .keep([response("same")], under: "b")])
        try await store.commit([.remove(under: "a")])
        #expect(try await bodies() == ["same"])
        try await store.commit([.keep([response("other")], under: "b")])
        #expect(try await bodies() == ["other"])
        try await store.commit([.remove(under: "b")])
        #expect(try await records.records(under: []).isEmpty)
    }

    @Test func everythingIsUnderTheKey() async throws {
        let other = StoredRecord([1])
        try await records.commit([.keep(other, ["responses", "other"])])
        try await makeStore().commit([.keep([response("1")], under: "a")])
        try await makeStore().commit([.removeAll])
        #expect(try await records.records(under: []).map(\.key) == [["responses", "other"]])
    }

    /// Anyone can make bodies with equal checksums.
    @Test func differentBodiesWithEqualChecksumsAreKeptApart() async throws {
        let store = makeStore()
        try await store.commit([.keep([response("1")], under: "a")])
        let record = try #require(try await records.records(under: prefix.appending("bodies")).first)
        // As if the other body had the checksum of this one.
        let twin = RecordKey(Array(record.key.components.dropLast()) + ["twin"])
        try await records.commit([.keep(StoredRecord(Array("2".utf8), expiry: .distantFuture), twin)])
        try await store.commit([.keep([response("1")], under: "b")])
        #expect(try await store.responses(for: "b") == [response("1")])
        #expect(try await bodies().sorted() == ["1", "2"])
    }

    @Test func responseWhoseBodyIsLostIsMissing() async throws {
        let store = makeStore()
        try await store.commit([.keep([response("1"), response("2")], under: "a")])
        let body = try #require(
            try await records.records(under: prefix.appending("bodies")).first { $0.record.bytes == Array("1".utf8) }
        )
        records.lose(body.key)
        #expect(try await store.responses(for: "a") == [response("2")])
    }

    @Test func damagedEntriesAreMissingAndRemoved() async throws {
        let store = makeStore()
        try await store.commit([.keep([response("1")], under: "a")])
        let key = prefix.appending("urls").appending("a")
        try await records.commit([.keep(StoredRecord(Array("nonsense".utf8), expiry: .distantFuture), key)])
        #expect(try await store.responses(for: "a").isEmpty)
        #expect(try await store.metadata(after: nil, limit: 1).map(\.metadata) == [[]])
        try await store.commit([.remove(under: "a")])
        #expect(try await records.record(for: key) == nil)
    }

    @Test func removalOfNothingWritesNothing() async throws {
        try await makeStore().commit([.remove(under: "a")])
        try await makeStore().commit([])
        #expect(records.commits.isEmpty)
    }

    @Test func recordsExpireWithTheResponses() async throws {
        try await makeStore().commit([
            .keep([response("1", expiresAfter: 10), response("2", expiresAfter: 20)], under: "a")
        ])
        let expiries = try await records.records(under: []).map { $0.record.expiry?.timeIntervalSince(Self.now) }
        #expect(Set(expiries) == [10, 20])
    }

    /// A response that is validated often does not write its body each time.
    @Test func bodyIsWrittenAgainOnlyIfItWouldExpireFarTooEarly() async throws {
        try await makeStore().commit([.keep([response("1", expiresAfter: 1_000)], under: "a")])
        try await makeStore(now: Self.now.addingTimeInterval(400)).commit([
            .keep([response("1", expiresAfter: 1_400)], under: "a")
        ])
        func expiry() async throws -> Double? {
            try await records.records(under: prefix.appending("bodies")).first?.record.expiry?.timeIntervalSince(
                Self.now
            )
        }
        #expect(try await expiry() == 1_000)
        try await makeStore(now: Self.now.addingTimeInterval(600)).commit([
            .keep([response("1", expiresAfter: 1_600)], under: "a")
        ])
        #expect(try await expiry() == 1_600)
        #expect(try await bodies() == ["1"])
    }

    @Test(arguments: [[10.0, 1_000], [1_000, 10]]) func bodyLastsAsLongAsAnyOfItsResponses(expiries: [Double])
        async throws
    {
        try await makeStore().commit(
            expiries.enumerated().map { number, expiry in
                .keep([response("same", expiresAfter: expiry)], under: "\(number)")
            }
        )
        let records = try await records.records(under: prefix.appending("bodies"))
        #expect(records.map { $0.record.expiry?.timeIntervalSince(Self.now) } == [1_000])
    }

    @Test func failuresSayWhatTheRecordsSay() async throws {
        records.fail(with: RecordStoreError(.full, explanation: "There is no space left."))
        let failure = ResponseStoreError(explanation: "There is no space left.")
        let store = makeStore()
        await #expect(throws: failure) { try await store.commit([.keep([response("1")], under: "a")]) }
        await #expect(throws: failure) { try await store.responses(for: "a") }
        await #expect(throws: failure) { try await store.metadata(after: nil, limit: 1) }
    }
}
