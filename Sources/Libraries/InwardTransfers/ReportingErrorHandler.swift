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

/// Reports that wait to be saved: a value without a task, for a ``ReportingErrorHandler``.
///
/// Whoever is told to begin takes batch after batch until there is none, and says of each how it ended. Nobody else is told
/// to begin meanwhile.
package struct ReportBuffer {
    private let capacity: Int
    private let batchSize: Int
    private var lines: [String] = []
    private var isBeingSaved = false
    private var isClosed = false
    private var hasLastBatch = false

    /// How many reports were lost and are in no batch that was saved, or may still be.
    package private(set) var lost = 0

    /// Makes an empty buffer.
    ///
    /// - Parameters:
    ///   - capacity: How many reports wait at most, besides those of the batch under way; at least one.
    ///   - batchSize: How many reports are in a batch at most; at least one.
    package init(capacity: Int, batchSize: Int) {
        self.capacity = max(1, capacity)
        self.batchSize = max(1, batchSize)
    }

    /// Takes a report, which is lost if the buffer is full or closed. `true` if the caller must begin to save.
    package mutating func append(_ line: String) -> Bool {
        guard !isClosed, lines.count < capacity else {
            lost += 1
            return false
        }
        lines.append(line)
        defer { isBeingSaved = true }
        return !isBeingSaved
    }

    /// What to save next; `nil` if there is nothing more, and whoever saves is done.
    ///
    /// The last batch of a closed buffer tells what was lost, even if there is nothing else in it.
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

    /// Takes how the saving of a batch ended: what was not saved is lost.
    package mutating func finish(_ batch: ReportBatch, saved: Bool) {
        if !saved { lost += batch.lost + batch.lines.count }
    }

    /// Takes no report any more. `true` if the caller must begin to save: what was lost is still to be told.
    package mutating func close() -> Bool {
        guard !isClosed else { return false }
        isClosed = true
        return !isBeingSaved && owesLastBatch
    }

    /// Gives up all that is not saved, behind the close: it is lost, and nobody saves any more.
    package mutating func abandon() {
        lost += lines.count
        lines = []
        hasLastBatch = true
    }

    private var owesLastBatch: Bool { isClosed && !hasLastBatch && lost > 0 }
}

/// Reports that are saved together, and how many were lost before them.
package struct ReportBatch: Hashable, Sendable {
    /// The reports, one a line.
    package let lines: [String]
    /// How many were lost and have not been told of.
    package let lost: Int

    /// The batch as it is saved: how many were lost, if any were, and the reports, in UTF-8, with a line feed behind each
    /// line.
    package var data: [UInt8] {
        let notice = lost == 1 ? "1 error was not reported" : "\(lost) errors were not reported"
        return ((lost == 0 ? [] : [notice]) + lines).flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}
