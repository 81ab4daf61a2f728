import InwardRepositories

/// A record store that passes each call to another store, except for the methods that a conforming type implements.
protocol RecordStoreDecorator: RecordStore {
    /// The store that receives the other calls.
    var base: any RecordStore { get }
}

extension RecordStoreDecorator {
    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await base.record(for: key)
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { try await base.commit(changes) }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }
}
