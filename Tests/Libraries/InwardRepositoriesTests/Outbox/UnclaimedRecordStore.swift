import InwardRepositories

/// A store whose claims exclude nobody, as on a file system that does not know locks.
struct UnclaimedRecordStore: RecordStoreDecorator {
    let base: any RecordStore

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { .claimed(RecordClaim {}) }
}
