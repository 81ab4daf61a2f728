import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardTransfers

/// The default values. Services that link this package rely on them, so a change of a default must be announced to
/// users.
struct DefaultsTests {
    /// By default, 1,000 reports can wait next to the batch that is being saved, and a batch has at most 100.
    @Test(.timeLimit(.minutes(5))) func defaultsAllow1000WaitingReportsInBatchesOf100() async {
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        let handler = IgnoringErrorHandler().reporting(through: saver)
        handler.handle(ExampleError("first"))
        await begun.arrive()
        for number in 0...1_000 { handler.handle(ExampleError(number)) }
        #expect(handler.lostCount == 1)
        await released.arrive()
        await handler.close()
        let counts = saver.saved.map { bytes in bytes.count { $0 == UInt8(ascii: "\n") } }
        #expect(counts.prefix(10) == [1, 101, 100, 100, 100, 100, 100, 100, 100, 100], "\(counts)")
    }

    @Test func savedPartIsEmptyByDefault() {
        let part = SavedPart(source: nil, validator: nil, steps: nil)
        #expect(part.loadedByteCount == 0 && part.savedByteCount == 0)
        #expect(part.checksum == 0)
        #expect(!part.canBeResumed)
    }

    @Test func transferLimitsHaveDefaults() {
        let transfer = TransferLimits()
        #expect(transfer.maximumByteCount == 17_179_869_184)
        #expect(transfer.minimumChunkByteCount == 1_024)
        #expect(TransferLimits.smallChunkCount == 1_000)
    }

    @Test func gatheredDraftHoldsAtMost8MiBByDefault() async throws {
        #expect(Checksum() == Checksum(value: 0))
        #expect(!DataLoaderError(source: "The source", explanation: "is gone").meansAbsence)
        let part = SavedPart(source: nil, validator: nil, steps: nil)
        var draft = RecordingDataSaver().gatheredDraft()
        try await draft.begin()
        try await draft.append([UInt8](repeating: 7, count: 8 * 1_024 * 1_024), reaching: part)
        var error: DataSaverError?
        do { try await draft.append([7], reaching: part) } catch let caught { error = caught }
        #expect(error != nil)
    }
}
