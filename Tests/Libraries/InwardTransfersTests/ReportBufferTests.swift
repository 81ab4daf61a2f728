import InwardTransfers
import Testing

struct ReportBufferTests {
    private var buffer = ReportBuffer(capacity: 3, batchSize: 2)

    /// Appends reports, and returns for each whether the caller must start saving.
    private mutating func append(_ lines: String...) -> [Bool] {
        lines.map { buffer.append($0) }
    }

    private mutating func nextBatch() throws -> ReportBatch {
        let batch = buffer.nextBatch()
        return try #require(batch)
    }

    private mutating func close() -> Bool { buffer.close() }

    private mutating func next() -> String? {
        buffer.nextBatch().map { "\($0.lost): \($0.lines.joined(separator: " "))" }
    }

    @Test mutating func firstReportStartsSaving() {
        #expect(append("a", "b") == [true, false])
        #expect(next() == "0: a b")
        #expect(append("c") == [false])
        #expect(next() == "0: c")
        #expect(next() == nil)
        #expect(append("d") == [true])
    }

    @Test mutating func batchesHaveTheirSizeAndAreInOrder() {
        _ = append("a", "b", "c")
        #expect(next() == "0: a b")
        #expect(next() == "0: c")
        #expect(next() == nil)
    }

    @Test mutating func reportsForAFullBufferAreCountedAsLost() {
        #expect(append("a", "b", "c", "d", "e") == [true, false, false, false, false])
        #expect(buffer.lost == 2)
        #expect(next() == "2: a b")
        #expect(buffer.lost == 0)
        // The batch that is being saved does not count toward the capacity.
        #expect(append("f", "g", "h") == [false, false, false])
        #expect(next() == "1: c f")
        #expect(next() == "0: g")
        #expect(next() == nil)
    }

    @Test mutating func unsavedBatchIsCountedAsLost() throws {
        _ = append("a", "b", "c", "d")
        let batch = try nextBatch()
        buffer.finish(batch, saved: false)
        #expect(buffer.lost == 3)
        #expect(next() == "3: c")
        #expect(next() == nil)
    }

    @Test mutating func savedBatchIsNotCounted() throws {
        _ = append("a", "b", "c", "d")
        let batch = try nextBatch()
        buffer.finish(batch, saved: true)
        #expect(buffer.lost == 0)
        #expect(next() == "0: c")
    }

    @Test mutating func lossesAloneDoNotStartABatchBeforeClosing() throws {
        _ = append("a")
        let batch = try nextBatch()
        buffer.finish(batch, saved: false)
        #expect(next() == nil)
        #expect(buffer.lost == 1)
        #expect(append("b") == [true])
        #expect(next() == "1: b")
    }

    @Test mutating func closingStartsSavingOnceToReportLosses() throws {
        _ = append("a")
        let batch = try nextBatch()
        buffer.finish(batch, saved: false)
        #expect(next() == nil)
        #expect(close())
        #expect(!close())
        let last = try nextBatch()
        #expect(String(decoding: last.data, as: UTF8.self) == "1 error was not reported\n")
        buffer.finish(last, saved: false)
        #expect(next() == nil)
        #expect(buffer.lost == 1)
    }

    @Test mutating func closingLeavesSavingToTheCallerThatStartedIt() throws {
        _ = append("a")
        let batch = try nextBatch()
        #expect(!close())
        buffer.finish(batch, saved: false)
        #expect(next() == "1: ")
        #expect(next() == nil)
    }

    @Test mutating func closingWithLossesLeavesSavingToTheCallerThatStartedIt() throws {
        _ = append("a")
        let batch = try nextBatch()
        _ = append("b", "c", "d", "e")
        #expect(!close())
        buffer.finish(batch, saved: true)
        #expect(next() == "1: b c")
        #expect(next() == "0: d")
        #expect(next() == nil)
    }

    @Test mutating func closingAnEmptyBufferStartsNothing() {
        #expect(!close())
        #expect(next() == nil)
    }

    @Test mutating func reportsAfterClosingAreCountedAsLost() {
        _ = append("a")
        #expect(!close())
        #expect(append("b") == [false])
        #expect(next() == "1: a")
        #expect(next() == nil)
        #expect(append("c", "d") == [false, false])
        #expect(!close())
        #expect(buffer.lost == 2)
    }

    @Test mutating func abandonedReportsAreCountedAsLost() throws {
        _ = append("a", "b", "c")
        let batch = try nextBatch()
        #expect(!close())
        buffer.finish(batch, saved: false)
        buffer.abandon()
        #expect(buffer.lost == 3)
        #expect(next() == nil)
    }

    @Test mutating func capacityAndBatchSizeAreAtLeastOne() {
        buffer = ReportBuffer(capacity: 0, batchSize: 0)
        #expect(append("a", "b") == [true, false])
        #expect(next() == "1: a")
        #expect(next() == nil)
    }

    @Test mutating func batchTextStartsWithTheLosses() throws {
        _ = append("ä", "b")
        let first = try nextBatch()
        #expect(String(decoding: first.data, as: UTF8.self) == "ä\nb\n")
        buffer.finish(first, saved: false)
        _ = append("c")
        let second = try nextBatch()
        #expect(String(decoding: second.data, as: UTF8.self) == "2 errors were not reported\nc\n")
        _ = append("d", "e", "f", "g")
        let third = try nextBatch()
        #expect(String(decoding: third.data, as: UTF8.self) == "1 error was not reported\nd\ne\n")
    }
}
