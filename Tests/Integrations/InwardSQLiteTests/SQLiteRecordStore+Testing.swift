#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import TestSupport

@testable import InwardSQLite

extension SQLiteRecordStore {
    /// The time by which records expire in tests.
    static let testTime = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// Opens a store at that time, with as little room and such faults as a test needs.
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

    /// All that is kept.
    func contents() async throws -> [RecordKey: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try await records(under: []).map { ($0.key, $0.record.bytes) })
    }

    /// All that a directory keeps, by a store that is closed behind that.
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
