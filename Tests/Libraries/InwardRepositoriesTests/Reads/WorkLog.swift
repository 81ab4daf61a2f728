import Synchronization

/// A log of work, in order.
final class WorkLog: Sendable {
    private let noted = Mutex<[String]>([])

    var all: [String] { noted.withLock(\.self) }

    func note(_ work: String) { noted.withLock { $0.append(work) } }
}
