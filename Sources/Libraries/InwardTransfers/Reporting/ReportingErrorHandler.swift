public import InwardCore
import Synchronization

/// Reports each error to a collector, in batches and behind the caller's back, and passes the error on.
///
/// A report that cannot be saved is lost, as is one that finds too many waiting; how many were lost is told with the next
/// batch. No error comes of it: what fails while reports are saved is not reported, or a collector that is down would keep
/// itself busy.
public final class ReportingErrorHandler: ErrorHandler {
    private struct State {
        var buffer: ReportBuffer
        var saving: Task<Void, Never>?
    }

    /// The handlers whose reports the task at hand saves.
    @TaskLocal private static var saving: Set<ObjectIdentifier> = []

    /// How much of an error is reported, in scalars of Unicode: no upstream fills the memory with one.
    private static let maximumLength = 2_000

    private let base: any ErrorHandler
    private let saver: any DataSaver
    private let batchSize: Int
    private let state: Mutex<State>

    init(_ base: any ErrorHandler, saver: any DataSaver, batchSize: Int, capacity: Int) {
        self.base = base
        self.saver = saver
        self.batchSize = batchSize
        state = Mutex(State(buffer: ReportBuffer(capacity: capacity, batchSize: batchSize)))
    }

    /// How many errors were not reported, and the collector has not been told so.
    public var lostCount: Int { state.withLock(\.buffer.lost) }

    /// Keeps the error until it is reported, and passes it on. Behind the close it is counted as lost and passed on.
    public func handle(_ error: any Error) {
        if !Self.saving.contains(ObjectIdentifier(self)) {
            let line = String("\(error)".unicodeScalars.prefix(Self.maximumLength)).visible
            state.withLock { state in
                if state.buffer.append(line) { state.saving = savingTask() }
            }
        }
        base.handle(error)
    }

    /// Waits until all is saved, and closes what it passes errors on to.
    ///
    /// If a task that closes is cancelled, what is not saved by then is given up.
    public func close() async {
        let saving = state.withLock { state in
            if state.buffer.close() { state.saving = savingTask() }
            return state.saving
        }
        await withTaskCancellationHandler {
            await saving?.value
        } onCancel: {
            saving?.cancel()
        }
        await base.close()
    }

    /// The chain from here on.
    public var description: String { "reports in batches of \(batchSize) → \(base)" }

    // Unstructured, because whoever hands over an error does not wait for its report. It ends with the buffer, there is one at
    // a time, which the buffer sees to, and whoever closes waits for it: it is made and kept under the lock, so that it is
    // found.
    private func savingTask() -> Task<Void, Never> {
        Deadline.lifted { Task { await saveBatches() } }
    }

    private func saveBatches() async {
        while !Task.isCancelled, let batch = state.withLock({ $0.buffer.nextBatch() }) {
            let saved = await save(batch)
            state.withLock { $0.buffer.finish(batch, saved: saved) }
        }
        if Task.isCancelled { state.withLock { $0.buffer.abandon() } }
    }

    private func save(_ batch: ReportBatch) async -> Bool {
        await Self.$saving.withValue(Self.saving.union([ObjectIdentifier(self)])) {
            do {
                try await saver.save(batch.data)
                return true
            } catch {
                return false
            }
        }
    }
}

extension ErrorHandler {
    /// A handler that reports each error to a collector before it passes it on to this one.
    ///
    /// A batch is text in UTF-8, with a line for each error: its description, cut short after 2,000 scalars, with control
    /// characters and invisible ones written out. Batches are saved one after the other, as soon as there is anything to save. Close the handler
    /// to have the last of them saved.
    ///
    /// - Parameters:
    ///   - saver: What brings a batch to the collector.
    ///   - batchSize: How many errors are in a batch at most; at least one.
    ///   - capacity: How many errors wait at most while a batch is saved; at least one.
    /// - Returns: the handler to hand errors to.
    public func reporting(
        through saver: any DataSaver,
        batchSize: Int = 100,
        capacity: Int = 1_000
    ) -> ReportingErrorHandler {
        ReportingErrorHandler(self, saver: saver, batchSize: max(1, batchSize), capacity: capacity)
    }
}
