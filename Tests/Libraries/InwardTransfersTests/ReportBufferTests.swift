import InwardTransfers
import Testing

struct ReportBufferTests {
    private var buffer = ReportBuffer(capacity: 3, batchSize: 2)

    /// Takes reports; whether the caller must begin to save behind each.
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

    @Test mutating func theFirstReportBeginsTheSaving() {
        #expect(append("a", "b") == [true, false])
        #expect(next() == "0: a b")
        #expect(append("c") == [false])
        #expect(next() == "0: c")
        #expect(next() == nil)
        #expect(append("d") == [true])
    }

    @Test mutating func batchesAreOfTheirSizeAndInOrder() {
        _ = append("a", "b", "c")
        #expect(next() == "0: a b")
        #expect(next() == "0: c")
        #expect(next() == nil)
    }

    @Test mutating func whatFindsTheBufferFullIsCounted() {
        #expect(append("a", "b", "c", "d", "e") == [true, false, false, false, false])
        #expect(buffer.lost == 2)
        #expect(next() == "2: a b")
        #expect(buffer.lost == 0)
        // The batch under way does not take its place in the buffer.
        #expect(append("f", "g", "h") == [false, false, false])
        #expect(next() == "1: c f")
        #expect(next() == "0: g")
        #expect(next() == nil)
    }

    @Test mutating func aBatchThatWasNotSavedIsCounted() throws {
        _ = append("a", "b", "c", "d")
        let batch = try nextBatch()
        buffer.finish(batch, saved: false)
        #expect(buffer.lost == 3)
        #expect(next() == "3: c")
        #expect(next() == nil)
    }

    @Test mutating func aBatchThatWasSavedIsNotCounted() throws {
        _ = append("a", "b", "c", "d")
        let batch = try nextBatch()
        buffer.finish(batch, saved: true)
        #expect(buffer.lost == 0)
        #expect(next() == "0: c")
    }

    @Test mutating func lossesAloneMakeNoBatchBeforeTheClose() throws {
        _ = append("a")
        let batch = try nextBatch()
        buffer.finish(batch, saved: false)
        #expect(next() == nil)
        #expect(buffer.lost == 1)
        #expect(append("b") == [true])
        #expect(next() == "1: b")
    }

    @Test mutating func aCloseBeginsTheSavingIfLossesAreToBeToldOnce() throws {
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

    @Test mutating func aCloseLeavesTheSavingToWhoeverHasBegun() throws {
        _ = append("a")
        let batch = try nextBatch()
        #expect(!close())
        buffer.finish(batch, saved: false)
        #expect(next() == "1: ")
        #expect(next() == nil)
    }

    @Test mutating func aCloseLeavesItToThemAlsoIfThereAreLosses() throws {
        _ = append("a")
        let batch = try nextBatch()
        _ = append("b", "c", "d", "e")
        #expect(!close())
        buffer.finish(batch, saved: true)
        #expect(next() == "1: b c")
        #expect(next() == "0: d")
        #expect(next() == nil)
    }

    @Test mutating func aCloseOfAnEmptyBufferBeginsNothing() {
        #expect(!close())
        #expect(next() == nil)
    }

    @Test mutating func whatComesBehindTheCloseIsCounted() {
        _ = append("a")
        #expect(!close())
        #expect(append("b") == [false])
        #expect(next() == "1: a")
        #expect(next() == nil)
        #expect(append("c", "d") == [false, false])
        #expect(!close())
        #expect(buffer.lost == 2)
    }

    @Test mutating func whatIsGivenUpIsCounted() throws {
        _ = append("a", "b", "c")
        let batch = try nextBatch()
        #expect(!close())
        buffer.finish(batch, saved: false)
        buffer.abandon()
        #expect(buffer.lost == 3)
        #expect(next() == nil)
    }

    @Test mutating func atLeastOneReportWaitsAndIsInABatch() {
        buffer = ReportBuffer(capacity: 0, batchSize: 0)
        #expect(append("a", "b") == [true, false])
        #expect(next() == "1: a")
        #expect(next() == nil)
    }

    @Test mutating func aBatchIsLinesOfTextThatBeginWithTheLosses() throws {
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
