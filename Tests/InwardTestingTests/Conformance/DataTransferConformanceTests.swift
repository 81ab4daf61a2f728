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

    @Test func whatIsReplacedIsNoticed() async throws {
        let other: [UInt8] = Array(20..<30)
        let loader = InMemoryDataLoader(bytes)
        try await DataLoaderConformance(bytes).checkReplacement(of: loader, with: other) {
            loader.replace(with: other, validator: "2")
        }
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(other).checkReplacement(of: loader, with: bytes) {
                loader.replace(with: bytes, validator: "2")
            }
        }
        #expect(failure?.description.contains("must be of another version") == true)
        #expect(failure?.description.contains("must not have its old version") == true)
    }

    @Test(arguments: FlawedDataSaver.Flaw.allCases) func aFlawOfASaverIsFound(flaw: FlawedDataSaver.Flaw) async throws {
        let base = InMemoryDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { base.saved }.check(FlawedDataSaver(base: base, flaw: flaw))
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }
}
