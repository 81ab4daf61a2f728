import InterfaceAdapters
import InwardTesting
import Testing

struct RecordingRecordStoreTests {
    private let failure = RecordStoreError(.full, explanation: "There is no room.")

    @Test func itFailsWhenItIsToldToAndChangesNothingThen() async throws {
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
}
