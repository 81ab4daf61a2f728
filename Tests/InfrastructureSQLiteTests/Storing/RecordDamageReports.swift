#if SQLite
import Infrastructure
import Synchronization

/// What a store has reported.
final class RecordDamageReports: Sendable {
    private let reports = Mutex<[RecordDamage]>([])

    var all: [RecordDamage] { reports.withLock(\.self) }

    func add(_ report: RecordDamage) {
        reports.withLock { $0.append(report) }
    }
}
#endif
