import InwardFetching
import Synchronization

/// Remembers what it is told of circuits, as sentences.
final class RecordingCircuitObserver: FetchObserver {
    private let recorded = Mutex<[String]>([])

    /// What it was told so far.
    var told: [String] { recorded.withLock(\.self) }

    func circuitChanged(_ circuit: String, from old: String, to new: String) {
        recorded.withLock { $0.append("\(circuit): \(old) to \(new)") }
    }

    func rejected(_ request: DataRequest, because error: FetchError) {
        recorded.withLock { $0.append("\(error)") }
    }
}
