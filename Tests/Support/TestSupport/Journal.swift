import Synchronization

/// An ordered record of events from any task.
package final class Journal: Sendable {
    private let kept = Mutex<[String]>([])

    package init() {}

    package var entries: [String] { kept.withLock(\.self) }

    package func add(_ entry: String) {
        kept.withLock { $0.append(entry) }
    }
}
