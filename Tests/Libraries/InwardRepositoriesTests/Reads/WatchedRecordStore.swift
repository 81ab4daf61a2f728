import InwardRepositories

/// A store that reports each commit before making it.
struct WatchedRecordStore: RecordStoreDecorator {
    let base: any RecordStore
    let beforeCommit: @Sendable () -> Void

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        beforeCommit()
        try await base.commit(changes)
    }
}
