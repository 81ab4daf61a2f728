#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where a repository keeps what it fetches beyond the life of a process.
public struct RepositoryStore: Sendable {
    /// The store.
    public let records: any RecordStore
    /// What the keys begin with.
    public let partition: RecordKey
    let now: @Sendable () -> Date
    let reportFailure: @Sendable (RecordStoreError) -> Void

    /// Describes the place.
    ///
    /// - Parameters:
    ///   - records: The store. Several repositories may share one.
    ///   - partition: What the keys begin with, such as the user whom the answers were given to. Nobody is shown what is kept in
    ///     another partition.
    ///   - now: The time of day, by which what is kept grows old also while no process runs.
    ///   - reportFailure: Is told when something could not be read or kept. The repository goes on without.
    public init(
        _ records: any RecordStore,
        partition: RecordKey,
        now: @escaping @Sendable () -> Date,
        reportFailure: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.records = records
        self.partition = partition
        self.now = now
        self.reportFailure = reportFailure
    }
}
