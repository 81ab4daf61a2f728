import Synchronization

/// What happened, in its order, by whomever it was done.
final class Journal: Sendable {
    private let kept = Mutex<[String]>([])

    var entries: [String] { kept.withLock(\.self) }

    func add(_ entry: String) {
        kept.withLock { $0.append(entry) }
    }
}
