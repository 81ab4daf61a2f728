import Synchronization

/// A barrier at which a fixed number of tasks wait for one another. It proves that they run concurrently, because none
/// continues before all have arrived.
///
/// ```swift
/// let barrier = Rendezvous(of: 2)
/// async let other: Void = barrier.arrive()
/// await barrier.arrive()
/// await other
/// ```
///
/// A cancelled task continues alone, so a test with a time limit ends even if some tasks never arrive.
public final class Rendezvous: Sendable {
    private struct State {
        var missing: Int
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// Creates a barrier for the given number of tasks.
    public init(of count: Int) {
        state = Mutex(State(missing: count))
    }

    /// Waits for the other tasks. Returns immediately if all of them have already arrived.
    public func arrive() async {
        let place = state.withLock { state in
            state.missing -= 1
            return state.missing
        }
        await withTaskCancellationHandler {
            // Each continuation is resumed once: here if there is nothing to wait for, otherwise by the last task to arrive or
            // the cancellation that removes it under the lock.
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

/// Coordinates concurrent readers and writers, so that writers continue until each reader has read between writes.
///
/// With a fixed number of writes, a slow reader could miss all of them. Without pauses, writers could starve a reader. Writers
/// therefore continue as long as necessary, with pauses that grow until a reader has read.
final class ReaderProgress: Sendable {
    /// The number of reads per reader.
    private static let readCount = 16
    /// The number of writes without a read after which pauses get one turn longer.
    private static let writesPerTurn = 8

    private struct State {
        var writeCount = 0
        /// The write count at the last read that counted.
        var readWriteCount = 0
        var readers: [Reader]
    }

    private struct Reader {
        var left = ReaderProgress.readCount
        /// The write count at the reader's last read.
        var readWriteCount = 0
    }

    private let state: Mutex<State>

    init(readers: Int) {
        state = Mutex(State(readers: [Reader](repeating: Reader(), count: readers)))
    }

    /// Returns whether a writer must write again: up to a minimum number of rounds, and after that as long as readers need it.
    func needsRound(_ round: Int, ofAtLeast least: Int) -> Bool {
        if round < least { return true }
        return !Task.isCancelled && state.withLock { $0.readers.contains { $0.left > 0 } }
    }

    /// Records a write, and yields so that readers run before the next write, even on few threads.
    func write() async {
        let unreadCount = state.withLock { state in
            state.writeCount += 1
            return state.writeCount - state.readWriteCount
        }
        for _ in 0...unreadCount / Self.writesPerTurn { await Task.yield() }
    }

    /// Records a read. It counts if something was written since the reader's previous read.
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

    /// Records that a reader has finished, so that writers no longer wait for it.
    func end(_ reader: Int) {
        state.withLock { $0.readers[reader].left = 0 }
    }
}

/// Counts the progress of concurrent tasks, so that other tasks can wait for a count.
final class EventCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Increases the count, and returns it.
    @discardableResult
    func increase() -> Int {
        count.add(1, ordering: .sequentiallyConsistent).newValue
    }
}
