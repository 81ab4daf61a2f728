import InwardFetching
import Synchronization

/// An observer that records transitions and rejections as sentences.
final class RecordingCircuitObserver: FetchObserver {
    private let recorded = Mutex<[String]>([])

    /// The recorded sentences.
    var told: [String] { recorded.withLock(\.self) }

    func circuitChanged(_ circuit: String, from old: String, to new: String) {
        recorded.withLock { $0.append("\(circuit): \(old) to \(new)") }
    }

    func rejected(_ request: DataRequest, because error: FetchError) {
        recorded.withLock { $0.append("\(error)") }
    }
}
