import Foundation
import InwardRepositories
import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct RepositoryConformanceTests {
    private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private func check(_ flaw: FlawedRecordStore.Flaw?) async throws {
        let place = FlawedRecordStore.Place()
        try await RepositoryConformance(now: now).check { [now] in FlawedRecordStore(flaw: flaw, now: now, at: place) }
    }

    @Test func correctStorePasses() async throws {
        try await check(nil)
    }

    @Test func inMemoryStorePasses() async throws {
        let store = InMemoryRecordStore(now: { [now] in now })
        try await RepositoryConformance(now: now).check { store }
    }

    /// Some flaws of a store, each with a part of the violation that the check must report.
    private static let findings: [(FlawedRecordStore.Flaw, String)] = [
        (.forgetsRecordsBetweenStores, "A note that was read must be first, but is missing."),
        (.keepsTheFirstRecord, "Updates must be delivered once and in order, but were []."),
        (.removesNothing, "Delivered writes must not be pending after a restart"),
        (.losesConcurrentCommits, "All of 50 updates must be"),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 3))
    func flawOfTheStoreIsFound(flaw: FlawedRecordStore.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test func storeThatMixesUpUsersIsFound() async throws {
        let base = InMemoryRecordStore(now: { [now] in now })
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RepositoryConformance(now: now).check { SharedRecordStore(base: base) }
        }
        let sentence = "A note that another user has read and updated must be missing"
        #expect(failure?.violations.contains { $0.contains(sentence) } == true, "\(failure?.violations ?? [])")
    }

    @Test func failingStoreIsReported() async throws {
        let store = RecordingRecordStore(failure: RecordStoreError(.full, explanation: "There is no room."))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RepositoryConformance(now: now).check { store }
        }
        #expect(failure?.violations.first == "A repository must not fail, but did: There is no room.")
    }
}

/// A store that stores the records of two users under the same keys.
private struct SharedRecordStore: RecordStore {
    let base: InMemoryRecordStore

    private func shared(_ key: RecordKey) -> RecordKey { RecordKey(key.components.map { $0 == "bob" ? "ada" : $0 }) }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await base.record(for: shared(key))
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: shared(key))
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { RecordLosses() }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await base.claim(shared(key))
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await base.commit(
            changes.map { change in
                switch change {
                case .keep(let record, let key): .keep(record, shared(key))
                case .remove(let key): .remove(shared(key))
                case .removeAll(let key): .removeAll(shared(key))
                case .announce(let key): .announce(shared(key))
                }
            }
        )
    }
}
