import Foundation
import InwardRecordDirectories
import InwardRepositories

/// Decides which commits of a group can be made, and collects their changes in a frame.
///
/// Each commit sees the changes of the earlier ones, although they are not in the index yet.
struct RecordPlan {
    /// The changes of the commits whose conditions are met.
    private(set) var builder = RecordFrameBuilder()

    private let index: RecordIndex
    private let time: Date
    private var lastNumber: UInt64
    /// The changed records, and `nil` for removed ones.
    private var changed: [[UInt8]: RecordEntry?] = [:]
    /// The prefixes of all other removed records.
    private var removedPrefixes: [[UInt8]] = []

    /// Creates a plan for changes of an index at a time.
    init(_ index: RecordIndex, at time: Date) {
        self.index = index
        self.time = time
        lastNumber = index.lastNumber
    }

    /// Adds a commit.
    ///
    /// - Throws: A `RecordStoreError` if a condition is not met. Then the plan is unchanged.
    mutating func add(_ commit: RecordCommit) throws(RecordStoreError) {
        for condition in commit.conditions where !condition.isMet(by: { stamp(of: $0.encoded) }) {
            throw .conflict(condition)
        }
        for change in commit.changes {
            switch change {
            case .keep(let record, let key):
                let key = key.encoded
                lastNumber = RecordStamp.number(after: lastNumber)
                changed[key] = .some(builder.keep(record, .replacing(stamp(of: key), lastNumber, at: time), key))
            case .remove(let key):
                let key = key.encoded
                builder.remove(key)
                changed[key] = .some(nil)
            case .removeAll(let key):
                builder.add(change)
                let prefix = key.encoded
                for key in changed.keys where key.starts(with: prefix) { changed[key] = .some(nil) }
                removedPrefixes.append(prefix)
            case .announce: break
            }
        }
    }

    /// Returns the stamp of a record after the changes so far, or `nil` if the record does not exist or has expired.
    private func stamp(of key: [UInt8]) -> RecordStamp? {
        guard let entry = entry(key), !entry.isExpired(at: time) else { return nil }
        return entry.stamp
    }

    private func entry(_ key: [UInt8]) -> RecordEntry? {
        if let entry = changed[key] { return entry }
        return removedPrefixes.contains { key.starts(with: $0) } ? nil : index[key]
    }
}
