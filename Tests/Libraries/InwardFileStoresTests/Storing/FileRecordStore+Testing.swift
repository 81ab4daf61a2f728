import Foundation
import InwardRecordDirectories
import InwardRepositories
import TestSupport

@testable import InwardFileStores

extension FileRecordStore {
    /// The time by which records expire in tests.
    static let testTime = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// Opens a store at that time, with as little room and such faults as a test needs.
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

    /// All that is kept.
    func contents() async throws -> [RecordKey: [UInt8]] {
        Dictionary(uniqueKeysWithValues: try await records(under: []).map { ($0.key, $0.record.bytes) })
    }
}
