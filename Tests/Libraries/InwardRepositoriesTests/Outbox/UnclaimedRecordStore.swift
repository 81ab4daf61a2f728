import InwardRepositories

/// A store whose claims exclude no one, as on a file system without locks.
struct UnclaimedRecordStore: RecordStoreDecorator {
    let base: any RecordStore

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { .claimed(RecordClaim {}) }
}
