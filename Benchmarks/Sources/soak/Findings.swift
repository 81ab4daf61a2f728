import Synchronization

/// The findings, each with its number of occurrences.
final class Findings: Sendable {
    private let found = Mutex<[String: Int]>([:])

    var isEmpty: Bool { found.withLock(\.isEmpty) }

    /// The findings as text.
    var descriptions: [String] {
        found.withLock(\.self).sorted { $0.key < $1.key }.map {
            $0.value == 1 ? $0.key : "\($0.key) (\($0.value) times)"
        }
    }

    func add(_ finding: String) { found.withLock { $0[finding, default: 0] += 1 } }
}
