#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport

@testable import InwardSQLite

extension SQLiteRecordStore {
    /// The current time of a store in tests.
    static let testTime = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// Opens a store at the test time, with the given limits and faults.
    static func opened(
        _ directory: URL,
        byteLimit: Int = .max / 16,
        schema: RecordSchema = .current,
        limits: DatabaseLimits = DatabaseLimits(),
        reports: RecordDamageReports = RecordDamageReports(),
        faults: @escaping RecordFileFault.Source = { _ in nil },
        now: @escaping @Sendable () -> Date = { testTime }
    ) -> SQLiteRecordStore {
        SQLiteRecordStore(
            directory: RecordDirectory(url: directory, faults: faults),
            byteLimit: byteLimit,
            schema: schema,
            limits: limits,
            now: now,
            reportDamage: { reports.add($0) }
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

    /// Returns all records that have not expired.
    func contents() async throws -> [RecordKey: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try await records(under: []).map { ($0.key, $0.record.bytes) })
    }

    /// Returns all records in a directory. The store that reads them is closed afterwards.
    static func contents(
        of directory: URL,
        limits: DatabaseLimits = DatabaseLimits(),
        reports: RecordDamageReports = RecordDamageReports()
    ) async throws -> [RecordKey: [UInt8]] {
        let store = opened(directory, limits: limits, reports: reports)
        let contents = try await store.contents()
        await store.close()
        return contents
    }
}

/// A clock that tests advance.
final class RecordClock: Sendable {
    private let now = Mutex(SQLiteRecordStore.testTime)

    var time: Date { now.withLock(\.self) }

    func advance(by seconds: Double) {
        now.withLock { $0 += seconds }
    }
}
#endif
