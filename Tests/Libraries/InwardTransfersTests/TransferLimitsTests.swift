import InwardCore
import InwardTesting
import InwardTransfers
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TransferLimitsTests {
    /// A source that never ends, because no chunk is the last.
    private final class EndlessLoader: DataLoader {
        let chunkByteCount: Int
        let total: @Sendable (_ chunk: Int) -> Int?
        private let state = Mutex(0)

        init(chunkByteCount: Int, total: @escaping @Sendable (_ chunk: Int) -> Int? = { _ in nil }) {
            self.chunkByteCount = chunkByteCount
            self.total = total
        }

        var source: String? { "The endless" }
        var chunkCount: Int { state.withLock(\.self) }

        func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
            let number = state.withLock { count in
                defer { count += 1 }
                return count
            }
            // Ends a test that would run forever.
            guard number < 100_000 else { throw DataLoaderError(source: "The test", explanation: "was not stopped") }
            let bytes = [UInt8](repeating: 7, count: chunkByteCount)
            return LoadedChunk(
                DataChunk(bytes, at: offset, isLast: false),
                validator: "1",
                totalByteCount: total(number)
            )
        }
    }

    /// A step that repeats each byte ten times.
    private struct Tenfold: Plugin {
        func applied(to value: DataChunk) async -> DataChunk {
            var value = value
            value.bytes = value.bytes.flatMap { Array(repeating: $0, count: 10) }
            return value
        }
    }

    private let saver = InMemoryDataSaver()

    private func explanation(
        _ loader: any DataLoader,
        through steps: PluginCollection<DataChunk> = PluginCollection(),
        within limits: TransferLimits = TransferLimits()
    ) async -> String? {
        do {
            try await TransferData(from: loader, through: steps, to: saver, limits: limits)()
            return nil
        } catch .limitExceeded(let cause) {
            return cause.explanation
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func endlessSourceIsStoppedAndLeavesNothing() async {
        let loader = EndlessLoader(chunkByteCount: 4_096)
        let limits = TransferLimits(maximumByteCount: 100_000)
        #expect(
            await explanation(loader, within: limits) == """
                exceeds the limit of 100000 bytes set by TransferLimits.maximumByteCount. Raise the limit if the source may be \
                larger
                """
        )
        #expect(loader.chunkCount == 25)
        #expect(saver.saved == nil && saver.left == nil)
    }

    @Test func oneByteChunksAreStopped() async {
        let loader = EndlessLoader(chunkByteCount: 1)
        let explanation = await explanation(loader, within: TransferLimits())
        #expect(explanation?.contains("TransferLimits.minimumChunkByteCount (1024)") == true)
        #expect(loader.chunkCount == 1_001)
        #expect(saver.left == nil)
    }

    @Test func numberOfLargeChunksIsNotLimited() async {
        let loader = EndlessLoader(chunkByteCount: 1_024)
        let limits = TransferLimits(maximumByteCount: 1_024 * 5_000)
        #expect(await explanation(loader, within: limits)?.contains("limit of 5120000 bytes") == true)
        #expect(loader.chunkCount == 5_001)
    }

    @Test func excessiveSizeIsDetectedWithTheFirstChunk() async {
        let loader = EndlessLoader(chunkByteCount: 4_096) { _ in 1_000_000 }
        #expect(await explanation(loader, within: TransferLimits(maximumByteCount: 100_000)) != nil)
        #expect(loader.chunkCount == 1)
    }

    @Test func changedSizeIsDetected() async {
        let loader = EndlessLoader(chunkByteCount: 4_096) { 10_000_000 + $0 }
        let explanation = await explanation(loader)
        #expect(explanation?.contains("reported a size of 10000000 bytes, and then of 10000001") == true)
        #expect(loader.chunkCount == 2)
    }

    @Test func dataBeyondTheSizeIsDetected() async {
        let loader = EndlessLoader(chunkByteCount: 4_096) { $0 == 0 ? 5_000 : nil }
        let explanation = await explanation(loader)
        #expect(explanation?.contains("returned data up to byte 8192, but reported a size of 5000") == true)
    }

    @Test func outputOfStepsIsLimited() async {
        let loader = EndlessLoader(chunkByteCount: 4_096)
        let steps = PluginCollection<DataChunk>([Tenfold()])
        #expect(await explanation(loader, through: steps, within: TransferLimits(maximumByteCount: 100_000)) != nil)
        #expect(loader.chunkCount == 3)
    }

    @Test func dataOfExactlyTheLimitIsTransferred() async {
        let loader = InMemoryDataLoader(Array(0..<10))
        #expect(await explanation(loader, within: TransferLimits(maximumByteCount: 10)) == nil)
        #expect(saver.saved == Array(0..<10))
    }

    /// Each chunk repeats all earlier bytes and adds one.
    @Test func sourceThatAddsOneByteAtATimeIsStoppedWhateverTheChunkSize() async {
        struct RepeatingLoader: DataLoader {
            var source: String? { "The repeating" }
            func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
                guard offset < 3_000 else { throw DataLoaderError(source: "The test", explanation: "was not stopped") }
                let bytes = [UInt8](repeating: 7, count: offset + 1)
                return LoadedChunk(DataChunk(bytes, at: 0, isLast: false), validator: "1", totalByteCount: nil)
            }
        }
        #expect(await explanation(RepeatingLoader())?.contains("returned 1001 bytes in 1001 chunks") == true)
    }

    @Test func wholeDataSaverErrorSaysHowToRaiseItsLimit() async throws {
        struct SmallSaver: DataSaver {
            let saver: RecordingDataSaver
            func save(_ data: [UInt8]) async throws(DataSaverError) { try await saver.save(data) }
            func openDraft() async throws(DataSaverError) -> any DataDraft { gatheredDraft(byteLimit: 7) }
        }
        let recording = RecordingDataSaver()
        let saver = SmallSaver(saver: recording)
        try await TransferData(from: InMemoryDataLoader([1, 2, 3, 4, 5, 6, 7]), to: saver)()
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader([1, 2, 3, 4, 5, 6, 7, 8]), to: saver)()
        }
        #expect(error?.description.contains("return `gatheredDraft(byteLimit:)` with a higher limit") == true)
        #expect(recording.saved == [[1, 2, 3, 4, 5, 6, 7]])
    }
}
