#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A number of a repository's records in a store that instances share. Each write and each invalidation changes it, in the same
/// commit as the records.
struct CacheGeneration: Hashable, Sendable {
    /// How long the number is kept after a change. No fetch takes longer.
    private static let lifetime: TimeInterval = 86_400

    private let version: RecordVersion?

    /// Reads the current generation.
    init(of prefix: RecordKey, in store: any SharedRecordStore) async throws(RecordStoreError) {
        version = try await store.snapshot(for: Self.key(of: prefix))?.version
    }

    /// Returns the condition that this is still the current generation.
    func condition(under prefix: RecordKey) -> RecordCondition {
        let key = Self.key(of: prefix)
        return version.map { .hasVersion($0, key) } ?? .isAbsent(key)
    }

    /// Returns the change that begins the next generation. The version of its record is the number.
    static func next(under prefix: RecordKey, at time: Date) -> RecordChange {
        .keep(StoredRecord([], expiry: time.addingTimeInterval(lifetime)), key(of: prefix))
    }

    /// The key is outside the repository's prefix, so that emptying the cache keeps the number.
    private static func key(of prefix: RecordKey) -> RecordKey { RecordKey(["generations"] + prefix.components) }
}
