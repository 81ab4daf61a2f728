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
