import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
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

    /// Something of what is to be found where a source is replaced, by its old validator and its new one.
    private static let staleFindings: [(StaleDataLoader.Flaw, [String?], String)] = [
        (.givesOldBytes, ["1", "2"], "The chunk at 0 of 10 must have its bytes, and has others."),
        (.givesOldBytes, [nil, nil], "The chunk at 0 of 10 must have its bytes, and has others."),
        (.givesOldBytesLater, ["1", "2"], "All chunks together must be all there is, and are not."),
        (.givesOldVersion, ["1", "2"], "What has been replaced must be of another version"),
        (.givesOldVersion, [nil, nil], "The chunk at 0 of 10 must have its bytes, and has others."),
        (.stillHasOldVersion, ["1", "2"], "A source that has been replaced must not have its old version, and has."),
        (.goesOnAsIfNothingHappened, ["1", "2"], "A chunk after the replacement must be of another version"),
        (.failsAtTheOldEnd, ["1", "2"], "The loader must not fail, and did: It has nothing there"),
    ]

    @Test(arguments: staleFindings) func whatIsNotReplacedIsFound(
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

    @Test func whatReplacesASourceMustBeOther() async {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataLoaderConformance(bytes).checkReplacement(of: InMemoryDataLoader(bytes), with: bytes) {}
        }
        #expect(failure?.violations == ["What a source is replaced with must be other bytes, and is the same."])
    }

    @Test func aSourceMayBecomeShorter() async throws {
        let loader = InMemoryDataLoader(bytes)
        try await DataLoaderConformance(bytes).checkReplacement(of: loader, with: [7]) {
            loader.replace(with: [7], validator: "2")
        }
    }

    /// What has no validator is found replaced, too.
    @Test func whatHasNoVersionIsReplaced() async throws {
        let other: [UInt8] = Array(20..<30)
        let loader = InMemoryDataLoader(bytes, validator: nil)
        try await DataLoaderConformance(bytes).checkReplacement(of: loader, with: other) {
            loader.replace(with: other, validator: nil)
        }
    }

    @Test(arguments: FlawedDataSaver.Flaw.allCases) func aFlawOfASaverIsFound(flaw: FlawedDataSaver.Flaw) async throws {
        let base = InMemoryDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { base.saved }.check(FlawedDataSaver(base: base, flaw: flaw))
        }
        #expect(failure?.description.contains(flaw.rawValue) == true, "\(String(describing: failure))")
    }

    /// A writer goes on until a slow reader has read, however often it has written by then.
    @Test func whatIsTornIsFoundBySlowReaders() async throws {
        let saver = TearingDataSaver()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await DataSaverConformance { await saver.look() }.check(saver)
        }
        #expect(failure?.violations == ["What is seen must be whole while something else is saved, and is not."])
    }

    /// A reader that waits for a pause between saves gets one, though writer and reader take turns on one thread.
    @Test func aReaderThatWaitsForAPauseGetsOne() async throws {
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
