import InwardRepositories

/// A store that tells of each commit before it is made.
struct WatchedRecordStore: RecordStoreDecorator {
    let base: any RecordStore
    let beforeCommit: @Sendable () -> Void

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        beforeCommit()
        try await base.commit(changes)
    }
}
