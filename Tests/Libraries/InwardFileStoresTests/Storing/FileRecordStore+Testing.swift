import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport

@testable import InwardFileStores

extension FileRecordStore {
    /// The current time of a store in tests.
    static let testTime = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// Opens a store at the test time, with the given limits and faults.
    static func opened(
        _ directory: URL,
        byteLimit: Int = .max / 16,
        slack: Int = 1 << 20,
        reports: RecordDamageReports = RecordDamageReports(),
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) -> FileRecordStore {
        FileRecordStore(
            directory: directory,
            byteLimit: byteLimit,
            slack: slack,
            now: { testTime },
            reportDamage: { reports.add($0) },
            faults: faults
        )
    }

    /// Opens a store with a clock.
    static func opened(
        _ directory: URL,
        slack: Int = 1 << 20,
        clock: RecordClock,
        reports: RecordDamageReports = RecordDamageReports(),
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) -> FileRecordStore {
        FileRecordStore(
            directory: directory,
            byteLimit: .max / 16,
            slack: slack,
            now: { clock.time },
            reportDamage: { reports.add($0) },
            faults: faults
        )
    }

    /// Stores a byte under a key, and returns the version of the record.
    func keep(_ byte: UInt8, _ key: RecordKey, expiry: Date? = nil) async throws -> UInt64 {
        try await commit([.keep(StoredRecord([byte], expiry: expiry), key)])
        return try await snapshot(for: key)?.version.number ?? 0
    }

    /// Leases one record.
    func leaseOne(under key: RecordKey = [], for seconds: Int = 10) async throws -> RecordLease? {
        try await lease(under: key, limit: 1, for: .seconds(seconds)).first?.lease
    }

    /// Rewrites the log of a store without slack by making it mostly garbage. Uses the key `rewriting`.
    func rewrite() async throws {
        for _ in 0..<8 { try await commit([.keep(StoredRecord([UInt8](repeating: 0, count: 400)), ["rewriting"])]) }
        // The cleanup after a commit is done before the next commit.
        try await commit([.remove(["rewriting"])])
    }

    /// Returns all records that have not expired.
    func contents() async throws -> [RecordKey: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try await records(under: []).map { ($0.key, $0.record.bytes) })
    }
}

/// A clock that tests advance.
final class RecordClock: Sendable {
    private let now = Mutex(FileRecordStore.testTime)

    var time: Date { now.withLock(\.self) }

    func advance(by seconds: Double) {
        now.withLock { $0 += seconds }
    }
}
