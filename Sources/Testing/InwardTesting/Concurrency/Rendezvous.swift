import Synchronization

/// A place where so many tasks wait for one another, which proves that they are at work at the same time: none goes on before
/// all have arrived.
///
/// Who is cancelled goes on alone, so that a test with a time limit ends where they never all arrive.
public final class Rendezvous: Sendable {
    private struct State {
        var missing: Int
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// Makes a place for so many tasks.
    public init(of count: Int) {
        state = Mutex(State(missing: count))
    }

    /// Waits for the others. Who comes behind the last of them does not wait.
    public func arrive() async {
        let place = state.withLock { state in
            state.missing -= 1
            return state.missing
        }
        await withTaskCancellationHandler {
            // Kept once under its place and the lock, and resumed by whoever takes it out: the last to arrive, or a
            // cancellation; or here, if there is nothing to wait for.
            await withCheckedContinuation { continuation in
                let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    guard state.missing <= 0 || state.cancelled.contains(place) else {
                        state.waiting[place] = continuation
                        return []
                    }
                    guard state.missing <= 0 else { return [continuation] }
                    defer { state.waiting = [:] }
                    return [continuation] + state.waiting.values
                }
                for continuation in released { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(place)
                return state.waiting.removeValue(forKey: place)
            }
            continuation?.resume()
        }
    }
}

/// Tells writers how far concurrent readers are, so that they keep writing until each reader has read between writes.
///
/// A slow reader needs more writes than any fixed number, and a reader that waits for the writers needs pauses between them. So
/// writers go on for as long as it takes, with pauses that grow until a reader has read.
final class ReaderProgress: Sendable {
    /// How often each reader reads.
    private static let readCount = 16
    /// After how many writes without a read each pause is a turn longer.
    private static let writesPerTurn = 8

    private struct State {
        var writeCount = 0
        /// How much was written at the last read that counted.
        var readWriteCount = 0
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
        return !Task.isCancelled && state.withLock { $0.readers.contains { $0.left > 0 } }
    }

    /// Something was written; readers get their turns before the next write, however few threads there are.
    func write() async {
        let unreadCount = state.withLock { state in
            state.writeCount += 1
            return state.writeCount - state.readWriteCount
        }
        for _ in 0...unreadCount / Self.writesPerTurn { await Task.yield() }
    }

    /// A reader has read, which counts if something was written since it last did.
    func read(by reader: Int) {
        state.withLock { state in
            guard state.readers[reader].left > 0, state.readers[reader].readWriteCount < state.writeCount else {
                return
            }
            state.readers[reader].readWriteCount = state.writeCount
            state.readers[reader].left -= 1
            state.readWriteCount = state.writeCount
        }
    }

    /// A reader reads no more, and no writer waits for it.
    func end(_ reader: Int) {
        state.withLock { $0.readers[reader].left = 0 }
    }
}

/// Counts what concurrent tasks have done, so that others can go on until it is so much.
final class EventCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func increase() {
        count.add(1, ordering: .sequentiallyConsistent)
    }
}
