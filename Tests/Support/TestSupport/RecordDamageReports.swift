package import InwardRepositories
import Synchronization

/// The damage reports of a store.
package final class RecordDamageReports: Sendable {
    private let reports = Mutex<[RecordDamage]>([])

    package init() {}

    package var all: [RecordDamage] { reports.withLock(\.self) }

    package func add(_ report: RecordDamage) {
        reports.withLock { $0.append(report) }
    }
}
