public import InwardCore
import Synchronization

/// An error handler that reports errors to a collector in the background, in batches, and passes each error on.
///
/// ```swift
/// let handler = IgnoringErrorHandler().reporting(through: saver)
/// handler.handle(TransferDataError.timedOut)
/// await handler.close()  // Waits until the report is saved.
/// ```
///
/// A report is lost if it cannot be saved or if too many reports are waiting. The next batch states the number of lost reports.
/// Errors that the saver itself passes to this handler during a save are not reported, because a failing collector would
/// otherwise keep the handler busy. See <doc:ReportErrorsToACollector>.
public final class ReportingErrorHandler: ErrorHandler {
    private struct State {
        var buffer: ReportBuffer
        var saving: Task<Void, Never>?
    }

    /// The handlers whose reports the current task is saving.
    @TaskLocal private static var saving: Set<ObjectIdentifier> = []

    /// The maximum length of a report in Unicode scalars, before escaping. It keeps long errors from exhausting memory.
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

    /// The number of lost reports that no batch has mentioned yet.
    public var lostCount: Int { state.withLock(\.buffer.lost) }

    /// Queues a report of the error and passes the error on. After `close()`, the report counts as lost.
    public func handle(_ error: any Error) {
        if !Self.saving.contains(ObjectIdentifier(self)) {
            let line = String("\(error)".unicodeScalars.prefix(Self.maximumLength)).visible
            state.withLock { state in
                if state.buffer.append(line) { state.saving = savingTask() }
            }
        }
        base.handle(error)
    }

    /// Waits until all reports are saved, then closes the wrapped handler.
    ///
    /// If the task is cancelled, unsaved reports are discarded.
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

    /// The chain, starting with this handler.
    public var description: String { "reports in batches of \(batchSize) → \(base)" }

    // Unstructured, because callers do not wait for their reports. The buffer makes sure that only one such task runs, and the
    // task ends when the buffer is empty. It is created and stored under the lock, so that `close()` always finds it and can
    // wait for it.
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
    /// Returns a handler that reports each error to a collector before it passes the error on to this handler.
    ///
    /// A batch is UTF-8 text with one line per error: the error's description, truncated after 2,000 scalars, with control
    /// characters and invisible characters escaped. Batches are saved one after another, as soon as there are reports. Close
    /// the handler to make sure that the last batch is saved.
    ///
    /// - Parameters:
    ///   - saver: The saver that sends batches to the collector.
    ///   - batchSize: The maximum number of errors per batch, at least 1.
    ///   - capacity: The maximum number of errors that wait while a batch is saved, at least 1.
    /// - Returns: The outermost handler of the new chain.
    public func reporting(
        through saver: any DataSaver,
        batchSize: Int = 100,
        capacity: Int = 1_000
    ) -> ReportingErrorHandler {
        ReportingErrorHandler(self, saver: saver, batchSize: max(1, batchSize), capacity: capacity)
    }
}

/// The logic of ``ReportingErrorHandler``, as a value without a task: a buffer of reports that wait to be saved.
///
/// One caller at a time saves. The methods tell a caller when it must start. It then takes batches until there are none, and
/// records the outcome of each with ``finish(_:saved:)``.
package struct ReportBuffer {
    private let capacity: Int
    private let batchSize: Int
    private var lines: [String] = []
    private var isBeingSaved = false
    private var isClosed = false
    private var hasLastBatch = false

    /// The number of lost reports that are not mentioned in a saved or pending batch.
    package private(set) var lost = 0

    /// Creates an empty buffer.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of waiting reports, not counting the batch that is being saved. At least 1.
    ///   - batchSize: The maximum number of reports per batch, at least 1.
    package init(capacity: Int, batchSize: Int) {
        self.capacity = max(1, capacity)
        self.batchSize = max(1, batchSize)
    }

    /// Adds a report, or counts it as lost if the buffer is full or closed. Returns `true` if the caller must start
    /// saving.
    package mutating func append(_ line: String) -> Bool {
        guard !isClosed, lines.count < capacity else {
            lost += 1
            return false
        }
        lines.append(line)
        defer { isBeingSaved = true }
        return !isBeingSaved
    }

    /// Returns the next batch, or `nil` if there is none and saving has ended.
    ///
    /// The last batch of a closed buffer states the number of lost reports, even if it contains no reports.
    package mutating func nextBatch() -> ReportBatch? {
        guard !lines.isEmpty || owesLastBatch else {
            isBeingSaved = false
            return nil
        }
        if lines.isEmpty { hasLastBatch = true }
        let batch = ReportBatch(lines: Array(lines.prefix(batchSize)), lost: lost)
        lines.removeFirst(batch.lines.count)
        lost = 0
        return batch
    }

    /// Records the outcome of a batch. Reports that were not saved are lost.
    package mutating func finish(_ batch: ReportBatch, saved: Bool) {
        if !saved { lost += batch.lost + batch.lines.count }
    }

    /// Stops accepting reports. Returns `true` if the caller must start saving, because lost reports have not been
    /// mentioned yet.
    package mutating func close() -> Bool {
        guard !isClosed else { return false }
        isClosed = true
        return !isBeingSaved && owesLastBatch
    }

    /// Discards all unsaved reports and ends saving. The discarded reports count as lost.
    package mutating func abandon() {
        lost += lines.count
        lines = []
        hasLastBatch = true
    }

    private var owesLastBatch: Bool { isClosed && !hasLastBatch && lost > 0 }
}

/// Reports that are saved together, and the number of reports lost before them.
package struct ReportBatch: Hashable, Sendable {
    /// The reports, one per line.
    package let lines: [String]
    /// The number of lost reports that have not been mentioned yet.
    package let lost: Int

    /// The UTF-8 text of the batch: the number of lost reports, if there are any, then the reports, with a line feed
    /// after each line.
    package var data: [UInt8] {
        let notice = lost == 1 ? "1 error was not reported" : "\(lost) errors were not reported"
        return ((lost == 0 ? [] : [notice]) + lines).flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}
