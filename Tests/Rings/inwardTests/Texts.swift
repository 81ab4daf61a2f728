import Synchronization

/// A recorder that concatenates the texts that are written to it.
final class Texts: Sendable {
    private let texts = Mutex("")

    var all: String { texts.withLock(\.self) }

    func append(_ text: String) {
        texts.withLock { $0 += text }
    }
}
