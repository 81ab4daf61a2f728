import Foundation
import InwardRecordDirectories
import InwardRepositories
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

    /// Returns all records that have not expired.
    func contents() async throws -> [RecordKey: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try await records(under: []).map { ($0.key, $0.record.bytes) })
    }
}
