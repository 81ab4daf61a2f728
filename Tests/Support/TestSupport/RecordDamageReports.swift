package import InwardRepositories
import Synchronization

/// What a store has reported.
package final class RecordDamageReports: Sendable {
    private let reports = Mutex<[RecordDamage]>([])

    package init() {}

    package var all: [RecordDamage] { reports.withLock(\.self) }

    package func add(_ report: RecordDamage) {
        reports.withLock { $0.append(report) }
    }
}
