import Synchronization

/// What happened, in its order.
final class Journal: Sendable {
    private let written = Mutex<[String]>([])

    var entries: [String] { written.withLock(\.self) }

    func write(_ entry: String) {
        written.withLock { $0.append(entry) }
    }
}
