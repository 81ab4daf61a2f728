import InwardTesting
import Testing
import UseCases

struct DataTransferConformanceTests {
    private let bytes: [UInt8] = Array(0..<10)

    @Test func theDoublesConform() async throws {
        let saver = InMemoryDataSaver()
        try await DataSaverConformance { saver.saved }.check(saver)
        let recording = RecordingDataSaver()
        try await DataSaverConformance { recording.saved.last }.check(recording)
        for validator in ["1", nil] {
            try await DataLoaderConformance(bytes).check(InMemoryDataLoader(bytes, validator: validator))
        }
        try await DataLoaderConformance([]).check(InMemoryDataLoader([]))
    }

    @Test(arguments: FlawedDataLoader.Flaw.allCases) func aFlawOfALoaderIsFound(flaw: FlawedDataLoader.Flaw)
        async throws
    {
        let loader = FlawedDataLoader(base: InMemoryDataLoader(bytes), flaw: flaw)
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(bytes).check(loader)
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }

    @Test(arguments: FlawedDataSaver.Flaw.allCases) func aFlawOfASaverIsFound(flaw: FlawedDataSaver.Flaw) async throws {
        let base = InMemoryDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { base.saved }.check(FlawedDataSaver(base: base, flaw: flaw))
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }
}
