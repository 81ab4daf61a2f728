import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct DataTransferConformanceTests {
    private let bytes: [UInt8] = Array(0..<10)

    @Test func doublesConform() async throws {
        let saver = InMemoryDataSaver()
        try await DataSaverConformance { saver.saved }.check(saver)
        let recording = RecordingDataSaver()
        try await DataSaverConformance { recording.saved.last }.check(recording)
        for validator in ["1", nil] {
            try await DataLoaderConformance(bytes).check(InMemoryDataLoader(bytes, validator: validator))
        }
        try await DataLoaderConformance([]).check(InMemoryDataLoader([]))
    }

    @Test(arguments: FlawedDataLoader.Flaw.allCases) func eachFlawOfALoaderIsFound(flaw: FlawedDataLoader.Flaw)
        async throws
    {
        let loader = FlawedDataLoader(base: InMemoryDataLoader(bytes), flaw: flaw)
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(bytes).check(loader)
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }

    @Test func replacementMustChangeTheVersion() async throws {
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
        #expect(failure?.description.contains("must have a new version") == true)
        #expect(failure?.description.contains("must return false for the replaced version") == true)
    }

    /// For each flaw, the validators before and after a replacement, and a part of a violation that must be found.
    private static let staleFindings: [(StaleDataLoader.Flaw, [String?], String)] = [
        (.returnsOldBytes, ["1", "2"], "The chunk at 0 of 10 must contain the right bytes, but does not."),
        (.returnsOldBytes, [nil, nil], "The chunk at 0 of 10 must contain the right bytes, but does not."),
        (.returnsOldBytesLater, ["1", "2"], "All chunks together must form the complete data, but do not."),
        (.returnsOldVersion, ["1", "2"], "A replaced source must have a new version"),
        (.returnsOldVersion, [nil, nil], "The chunk at 0 of 10 must contain the right bytes, but does not."),
        (.stillHasOldVersion, ["1", "2"], "`stillHas` must return false for the replaced version, but returned true."),
        (.continuesTheOldVersion, ["1", "2"], "A chunk loaded after the replacement must have a new version"),
        (.failsAtTheOldEnd, ["1", "2"], "The loader must not fail, but did: It has nothing there"),
    ]

    @Test(arguments: staleFindings) func staleDataAfterAReplacementIsFound(
        flaw: StaleDataLoader.Flaw,
        validators: [String?],
        sentence: String
    ) async throws {
        let other: [UInt8] = Array(20..<30)
        let base = InMemoryDataLoader(bytes, validator: validators[0])
        let old = InMemoryDataLoader(bytes, validator: validators[0])
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(bytes).checkReplacement(
                of: StaleDataLoader(base: base, old: old, oldBytes: bytes, flaw: flaw),
                with: other
            ) { base.replace(with: other, validator: validators[1]) }
        }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test func equalReplacementIsRefused() async {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(bytes).checkReplacement(of: InMemoryDataLoader(bytes), with: bytes) {}
        }
        #expect(failure?.violations == ["The replacement must differ from the original bytes. Pass other bytes."])
    }

    @Test func replacementMayBeShorter() async throws {
        let loader = InMemoryDataLoader(bytes)
        try await DataLoaderConformance(bytes).checkReplacement(of: loader, with: [7]) {
            loader.replace(with: [7], validator: "2")
        }
    }

    @Test func sourceWithoutAVersionCanBeReplaced() async throws {
        let other: [UInt8] = Array(20..<30)
        let loader = InMemoryDataLoader(bytes, validator: nil)
        try await DataLoaderConformance(bytes).checkReplacement(of: loader, with: other) {
            loader.replace(with: other, validator: nil)
        }
    }

    @Test(arguments: Thoroughness.sample(FlawedDataSaver.Flaw.allCases, every: 4))
    func eachFlawOfASaverIsFound(flaw: FlawedDataSaver.Flaw) async throws {
        let base = InMemoryDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { base.saved }.check(FlawedDataSaver(base: base, flaw: flaw))
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }

    /// The writer continues until a slow reader has read, however often it must write.
    @Test func tornSaveIsFoundByASlowReader() async throws {
        let saver = TearingDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { await saver.look() }.check(saver)
        }
        #expect(failure?.violations == ["Readers must see complete data while other data is saved, but do not."])
    }

    /// A reader that waits for a pause between saves gets one, even if the writer and the reader share one thread.
    @Test func writersPauseForAReader() async throws {
        let saver = RecordingDataSaver()
        let conformance = DataSaverConformance {
            while true {
                let count = saver.saved.count
                for _ in 0..<16 { await Task.yield() }
                if saver.saved.count == count { return saver.saved.last }
            }
        }
        try await DeterministicScheduler(seed: 1).run { try await conformance.check(saver) }
    }
}
