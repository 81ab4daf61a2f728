import Synchronization

/// What was written, one text behind the other.
final class Texts: Sendable {
    private let texts = Mutex("")

    var all: String { texts.withLock(\.self) }

    func append(_ text: String) {
        texts.withLock { $0 += text }
    }
}
