import InwardRepositories
import InwardTesting
import Testing

struct RecordingRecordStoreTests {
    private let failure = RecordStoreError(.full, explanation: "There is no room.")

    @Test func failingStoreChangesNothing() async throws {
        let store = RecordingRecordStore()
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        store.fail(with: failure)
        await #expect(throws: failure) { try await store.commit([.remove(["a"])]) }
        await #expect(throws: failure) { try await store.record(for: ["a"]) }
        await #expect(throws: failure) { _ = try await store.records(under: []) }
        store.fail(with: nil)
        #expect(try await store.record(for: ["a"]) == StoredRecord([1]))
        #expect(store.commits == [[.keep(StoredRecord([1]), ["a"])]])
    }

    @Test func recordsAreLostUntilTheirKeysAreChanged() async throws {
        let store = RecordingRecordStore()
        let keys: [RecordKey] = [["a", "1"], ["a", "2"], ["a", "3"], ["b"]]
        try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
        for key in keys { store.lose(key) }
        store.loseUnknown()
        #expect(try await store.record(for: ["a", "1"]) == nil)
        #expect(try await store.records(under: []).isEmpty)
        #expect(try await store.losses(under: ["a"]) == RecordLosses(keys: Array(keys.prefix(3)), unknownCount: 1))
        try await store.commit([.keep(StoredRecord([2]), ["a", "1"]), .remove(["a", "2"])])
        #expect(try await store.records(under: []).map(\.record) == [StoredRecord([2])])
        #expect(try await store.losses(under: []).keys == [["a", "3"], ["b"]])
        try await store.commit([.removeAll(["a"])])
        #expect(try await store.losses(under: []).keys == [["b"]])
    }
}
