import InwardTesting
import InwardTransfers
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RecordingDataSaverTests {
    private let failure = DataSaverError(destination: "The collector", explanation: "is down")

    @Test func successfulSavesAreRecorded() async throws {
        let saver = RecordingDataSaver(failure: failure)
        await #expect(throws: failure) { try await saver.save([1]) }
        saver.fail(with: nil)
        try await saver.save([2])
        try await saver.save([3])
        #expect(saver.saved == [[2], [3]])
        #expect(saver.attempts == 3)
    }

    @Test func nothingIsSavedBeforeItIsReleased() async throws {
        let begun = Rendezvous(of: 2)
        let released = Rendezvous(of: 2)
        let saver = RecordingDataSaver(arrivingAt: begun, released)
        async let saving: Void = saver.save([1])
        await begun.arrive()
        #expect(saver.attempts == 1)
        #expect(saver.saved.isEmpty)
        await released.arrive()
        try await saving
        #expect(saver.saved == [[1]])
    }

    @Test func cancelledSaveSavesNothing() async {
        let begun = Rendezvous(of: 2)
        let saver = RecordingDataSaver(arrivingAt: begun, Rendezvous(of: 2))
        await withTaskGroup { group in
            group.addTask {
                let error = await #expect(throws: DataSaverError.self) { try await saver.save([1]) }
                #expect(error?.explanation == "was cancelled")
            }
            await begun.arrive()
            group.cancelAll()
        }
        #expect(saver.saved.isEmpty)
    }
}
