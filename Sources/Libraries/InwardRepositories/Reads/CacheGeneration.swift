#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A number of a repository's records in a store that instances share. Each write and each invalidation changes it, in the same
/// commit as the records or before that.
struct CacheGeneration: Hashable, Sendable {
    /// How long the number is kept after a change. Every fetch must take less time.
    private static let lifetime: TimeInterval = 86_400

    private let version: RecordVersion?
    /// The time of the change that began the generation, by the clock of its instance. `nil` if nothing has changed recently.
    let time: Date?

    /// Reads the current generation.
    init(of prefix: RecordKey, in store: any SharedRecordStore) async throws(RecordStoreError) {
        let snapshot = try await store.snapshot(for: Self.key(of: prefix))
        version = snapshot?.version
        let seconds = (snapshot?.record.bytes).flatMap { Double(String(decoding: $0, as: UTF8.self)) }
        time = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// Returns the condition that this is still the current generation.
    func condition(under prefix: RecordKey) -> RecordCondition {
        let key = Self.key(of: prefix)
        return version.map { .hasVersion($0, key) } ?? .isAbsent(key)
    }

    /// Returns the change that begins the next generation. The version of its record is the number.
    static func next(under prefix: RecordKey, at time: Date) -> RecordChange {
        let bytes = Array(String(time.timeIntervalSinceReferenceDate).utf8)
        return .keep(StoredRecord(bytes, expiry: time.addingTimeInterval(lifetime)), key(of: prefix))
    }

    /// The key is outside the repository's prefix, so that emptying the cache keeps the number.
    private static func key(of prefix: RecordKey) -> RecordKey { RecordKey(["generations"] + prefix.components) }
}
