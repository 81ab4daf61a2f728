import InwardCore
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ReportingErrorHandlerTests {
    private let journal = Journal()
    private let begun = Rendezvous(of: 2)
    private let released = Rendezvous(of: 2)
    private let failure = DataSaverError(destination: "The collector", explanation: "is down")

    private func texts(_ saver: RecordingDataSaver) -> [String] {
        saver.saved.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func reportsThatArriveDuringASaveFormTheNextBatch() async {
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver, batchSize: 3)
        handler.handle(ExampleError("a"))
        await begun.arrive()
        for name in ["b", "c", "d", "e"] { handler.handle(ExampleError(name)) }
        #expect(base.errors.map { "\($0)" } == ["a", "b", "c", "d", "e"])
        await released.arrive()
        await handler.close()
        #expect(texts(saver) == ["a\n", "b\nc\nd\n", "e\n"])
        #expect(handler.lostCount == 0)
    }

    @Test func reportsIgnoreTheDeadlineOfTheirCaller() async {
        struct Saver: DataSaver {
            let journal: Journal
            func save(_ data: [UInt8]) async throws(DataSaverError) {
                journal.add(Deadline.current == nil ? "no deadline" : "a deadline")
            }
        }
        let handler = IgnoringErrorHandler().reporting(through: Saver(journal: journal))
        _ = await Deadline(in: .seconds(2), on: ManualClock()).bound { handler.handle(ExampleError("a")) }
        await handler.close()
        #expect(journal.entries == ["no deadline"])
    }

    @Test func reportIsOneTruncatedLine() async {
        let saver = RecordingDataSaver()
        let handler = IgnoringErrorHandler().reporting(through: saver)
        handler.handle(ExampleError("a\nb\u{1B}\u{0}" + String(repeating: "x", count: 5_000)))
        await handler.close()
        #expect(texts(saver) == [#"a\nb\u{1B}\u{0}"# + String(repeating: "x", count: 1_995) + "\n"])
    }

    @Test func savingStartsAgainAfterItHasEnded() async {
        let saver = RecordingDataSaver(arrivingAt: begun)
        let handler = IgnoringErrorHandler().reporting(through: saver)
        handler.handle(ExampleError("a"))
        await begun.arrive()
        for number in 0..<100 {
            await Task.yield()
            handler.handle(ExampleError(number))
        }
        await handler.close()
        #expect(texts(saver).joined() == "a\n" + (0..<100).map { "\($0)\n" }.joined())
    }

    @Test func callersDoNotWaitAndExcessReportsAreCountedAsLost() async {
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver)
        handler.handle(ExampleError("a"))
        await begun.arrive()
        for number in 0..<1_500 { handler.handle(ExampleError(number)) }
        #expect(base.errors.count == 1_501)
        #expect(handler.lostCount == 500)
        await released.arrive()
        await handler.close()
        #expect(saver.saved.count == 11)
        let second = "500 errors were not reported\n" + (0..<100).map { "\($0)\n" }.joined()
        #expect(texts(saver).dropFirst().first == second)
        #expect(texts(saver).last == (900..<1_000).map { "\($0)\n" }.joined())
    }

    @Test func failingSaverCausesNoErrorAndTheNextBatchReportsTheLoss() async {
        let saver = RecordingDataSaver(arrivingAt: begun, released, failure: failure)
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver, batchSize: 2)
        handler.handle(ExampleError("a"))
        await begun.arrive()
        for name in ["b", "c", "d"] { handler.handle(ExampleError(name)) }
        await released.arrive()
        await handler.close()
        // Three batches, and the one that reports their loss.
        #expect(saver.attempts == 4)
        #expect(saver.saved.isEmpty)
        #expect(handler.lostCount == 4)
        #expect(base.errors.map { "\($0)" } == ["a", "b", "c", "d"])
    }

    /// Covers both a save that has ended when the handler is closed and one that is still running.
    @Test(arguments: [0, 1_000])
    func nextBatchReportsTheLossOfThePreviousOne(turns: Int) async {
        let saver = FailingOnceDataSaver()
        let handler = IgnoringErrorHandler().reporting(through: saver)
        handler.handle(ExampleError("a"))
        await saver.attempted.arrive()
        for _ in 0..<turns { await Task.yield() }
        await handler.close()
        #expect(saver.saved.map { String(decoding: $0, as: UTF8.self) } == ["1 error was not reported\n"])
        #expect(handler.lostCount == 0)
    }

    @Test func errorsOfTheSaverItselfAreNotReported() async {
        let handler = ReplaceableErrorHandler(IgnoringErrorHandler())
        let saver = HandlingDataSaver(handler: handler)
        let base = RecordingErrorHandler()
        let reporting = base.reporting(through: saver)
        _ = handler.replace(with: reporting)
        handler.handle(ExampleError("a"))
        await handler.close()
        #expect(saver.saved.map { String(decoding: $0, as: UTF8.self) } == ["a\n"])
        #expect(base.errors.map { "\($0)" } == ["a", "saving"])
        #expect(reporting.lostCount == 0)
    }

    @Test func closingSavesAllReportsBeforeTheWrappedHandlerCloses() async {
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let base = JournalingErrorHandler(journal: journal)
        let handler = base.reporting(through: saver, batchSize: 1)
        for name in ["a", "b", "c"] { handler.handle(ExampleError(name)) }
        await withTaskGroup { group in
            group.addTask {
                await handler.close()
                #expect(saver.saved.count == 3)
            }
            await begun.arrive()
            #expect(journal.entries == ["base: a", "base: b", "base: c"])
            await released.arrive()
        }
        #expect(journal.entries.last == "base is closed")
    }

    @Test func errorsAfterClosingArePassedOnAndCountedAsLost() async {
        let saver = RecordingDataSaver()
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver)
        await handler.close()
        handler.handle(ExampleError("a"))
        await handler.close()
        #expect(base.errors.count == 1)
        #expect(saver.attempts == 0)
        #expect(handler.lostCount == 1)
    }

    @Test func cancelledCloseDiscardsUnsavedReports() async {
        // No other task arrives to release it.
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver, batchSize: 1)
        for name in ["a", "b", "c"] { handler.handle(ExampleError(name)) }
        await begun.arrive()
        await withTaskGroup { group in
            group.addTask { await handler.close() }
            group.cancelAll()
        }
        #expect(base.isClosed)
        #expect(saver.saved.isEmpty)
        #expect(saver.attempts == 1)
        #expect(handler.lostCount == 3)
    }

    @Test func closeCancelledDuringASaveEnds() async {
        for turns in 0..<20 {
            let begun = Rendezvous(of: 2)
            let saver = RecordingDataSaver(arrivingAt: begun, Rendezvous(of: 2))
            let handler = IgnoringErrorHandler().reporting(through: saver)
            handler.handle(ExampleError("a"))
            await begun.arrive()
            await withTaskGroup { group in
                group.addTask { await handler.close() }
                for _ in 0..<turns { await Task.yield() }
                group.cancelAll()
            }
            #expect(handler.lostCount == 1)
        }
    }

    @Test func concurrentErrorsAreEachReportedOnce() async {
        let saver = RecordingDataSaver()
        let base = RecordingErrorHandler()
        let handler = base.reporting(through: saver, batchSize: 7, capacity: 2_000)
        await withTaskGroup { group in
            for sender in 0..<8 {
                group.addTask {
                    for number in 0..<250 {
                        handler.handle(ExampleError(sender * 250 + number))
                        if number.isMultiple(of: 20) { await Task.yield() }
                    }
                }
            }
        }
        await handler.close()
        let reports = texts(saver).joined().split(separator: "\n").compactMap { Int($0) }
        #expect(reports.sorted() == Array(0..<2_000))
        #expect(texts(saver).allSatisfy { $0.count { $0 == "\n" } <= 7 })
        #expect(base.errors.count == 2_000)
    }
}
