import Synchronization

/// Tells writers how far readers are that read meanwhile, so that those go on until each reader has read between their writes.
final class ReaderProgress: Sendable {
    /// How often each reader reads.
    private static let readCount = 16
    /// How often a writer writes at most, so that a reader that is stuck does not keep it for ever.
    private static let mostRounds = 1_024

    private struct State {
        var writeCount = 0
        var readers: [Reader]
    }

    private struct Reader {
        var left = ReaderProgress.readCount
        /// How much was written when it last read.
        var readWriteCount = 0
    }

    private let state: Mutex<State>

    init(readers: Int) {
        state = Mutex(State(readers: [Reader](repeating: Reader(), count: readers)))
    }

    /// Whether a writer that has written so many times goes on: a least number of times, and then as long as readers need it.
    func needsRound(_ round: Int, ofAtLeast least: Int) -> Bool {
        if round < least { return true }
        return round < Self.mostRounds && state.withLock { $0.readers.contains { $0.left > 0 } }
    }

    /// Something was written.
    func write() {
        state.withLock { $0.writeCount += 1 }
    }

    /// A reader has read, which counts if something was written since it last did.
    func read(by reader: Int) {
        state.withLock { state in
            guard state.readers[reader].readWriteCount < state.writeCount else { return }
            state.readers[reader].readWriteCount = state.writeCount
            state.readers[reader].left -= 1
        }
    }

    /// A reader reads no more, and no writer waits for it.
    func end(_ reader: Int) {
        state.withLock { $0.readers[reader].left = 0 }
    }
}
