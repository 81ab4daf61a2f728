#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
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
#endif
