import Foundation
import InwardRepositories
import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RepositoryConformanceTests {
    private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private func check(_ flaw: FlawedRecordStore.Flaw?) async throws {
        let place = FlawedRecordStore.Place()
        try await RepositoryConformance(now: now).check { [now] in FlawedRecordStore(flaw: flaw, now: now, at: place) }
    }

    @Test func overAStoreThatDoesAllItMustItPasses() async throws {
        try await check(nil)
    }

    @Test func overTheStoreInMemoryItPasses() async throws {
        let store = InMemoryRecordStore(now: { [now] in now })
        try await RepositoryConformance(now: now).check { store }
    }

    /// Something of what users of a repository notice of each thing that its store does wrong.
    @Test(arguments: [
        (FlawedRecordStore.Flaw.keepsNothingForTheNext, "What was read must be first, and is missing."),
        (.keepsTheFirst, "Updates must be delivered once and in order, and were []."),
        (.removesNothing, "What was delivered must not be pending after a restart"),
        (.losesWhatComesAtOnce, "All of 50 updates must be"),
    ])
    func aFlawOfTheStoreIsFound(flaw: FlawedRecordStore.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test func aStoreWithoutPartitionsIsFound() async throws {
        let base = InMemoryRecordStore(now: { [now] in now })
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RepositoryConformance(now: now).check { SharedRecordStore(base: base) }
        }
        let sentence = "What another user has read and updated must be missing"
        #expect(failure?.violations.contains { $0.contains(sentence) } == true, "\(failure?.violations ?? [])")
    }

    @Test func aStoreThatFailsIsToldTo() async throws {
        let store = RecordingRecordStore(failure: RecordStoreError(.full, explanation: "There is no room."))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RepositoryConformance(now: now).check { store }
        }
        #expect(failure?.violations.first == "A repository must not fail, and did: There is no room.")
    }
}

/// A store that has one place for what two users keep.
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
                }
            }
        )
    }
}
