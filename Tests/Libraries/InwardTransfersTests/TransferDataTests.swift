import InwardCore
import InwardTesting
import InwardTransfers
import Synchronization
import TestSupport
import Testing

struct TransferDataTests {
    private typealias Question = InMemoryDataLoader.Question

    private let data: [UInt8] = Array(0..<10)
    private let saver = InMemoryDataSaver()
    private let failure = DataLoaderError(source: "The memory", explanation: "is gone")

    /// Cancels the current task, at a point that the test chooses.
    private static func cancelThisTask() {
        // `unsafe` is safe here: the task reference is used inside the task itself and not stored.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
    }

    /// Transfers up to an offset, and fails there.
    private func leavePart(upTo offset: Int, steps: PluginCollection<DataChunk> = PluginCollection()) async {
        let failure = failure
        let loader = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == offset { throw failure }
        }
        await #expect(throws: TransferDataError.unreadable(failure)) {
            try await TransferData(from: loader, through: steps, to: saver)()
        }
    }

    @Test(arguments: 0...10) func allChunksArrive(count: Int) async throws {
        let data = Array(data.prefix(count))
        var progress: [TransferProgress] = []
        let report = try await TransferData(from: InMemoryDataLoader(data), to: saver)() { progress.append($0) }
        #expect(saver.saved == data)
        #expect(report.savedByteCount == count)
        #expect(report.loadedByteCount == count)
        #expect(report.checksum == Checksum(of: data.span).value)
        #expect(report.validator == "1")
        #expect(progress.last == TransferProgress(doneByteCount: count, totalByteCount: count))
        #expect(progress.count == max(1, (count + 3) / 4))
    }

    @Test func nextChunkIsLoadedAfterThePreviousOneIsSaved() async throws {
        let loader = InMemoryDataLoader(data)
        try await TransferData(from: loader, to: saver)() { progress in
            #expect(loader.questions.count == (progress.doneByteCount + 3) / 4)
        }
        #expect(
            loader.questions == [
                Question(offset: 0, validator: nil), Question(offset: 4, validator: "1"),
                Question(offset: 8, validator: "1"),
            ]
        )
    }

    @Test func wholeDataSaverReceivesAllBytes() async throws {
        let saver = RecordingDataSaver()
        try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        #expect(saver.saved == [data])
    }

    @Test func wholeDataSaverReceivesNoMoreThanItsLimit() async throws {
        let saver = RecordingDataSaver()
        let large = [UInt8](repeating: 7, count: 8 * 1_024 * 1_024 + 1)
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(large, chunkByteCount: 1 << 20), to: saver)()
        }
        #expect(error?.description.contains("more than 8388608 bytes") == true)
        #expect(saver.attempts == 0)
    }

    @Test func interruptedTransferResumes() async throws {
        await leavePart(upTo: 8)
        #expect(saver.saved == nil)
        #expect(saver.left?.loadedByteCount == 8)
        let loader = InMemoryDataLoader(data)
        let report = try await TransferData(from: loader, to: saver)()
        #expect(saver.saved == data)
        #expect(report.resumedAt == 8)
        #expect(report.checksum == Checksum(of: data.span).value)
        #expect(loader.questions == [Question(offset: 8, validator: "1")])
    }

    @Test func completePartIsPublishedWithoutLoading() async throws {
        saver.fail(with: DataSaverError(destination: "The memory", explanation: "is full"))
        let filling = saver
        let loader = InMemoryDataLoader(data) { (_, question) in
            if question.offset == 0 { filling.fail(with: nil) }
        }
        await #expect(throws: TransferDataError.self) {
            try await TransferData(from: loader, to: saver)() { progress in
                guard progress.doneByteCount == 10 else { return }
                filling.fail(with: DataSaverError(destination: "The memory", explanation: "is full"))
            }
        }
        #expect(saver.left?.loadedByteCount == 10)
        saver.fail(with: nil)
        let report = try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        #expect(report.resumedAt == 10)
        #expect(saver.saved == data)
    }

    @Test func anotherVersionStartsOver() async throws {
        await leavePart(upTo: 8)
        let loader = InMemoryDataLoader(data.reversed(), validator: "2")
        let report = try await TransferData(from: loader, to: saver)()
        #expect(saver.saved == data.reversed())
        #expect(report.resumedAt == 0)
        #expect(report.restartCount == 0)
    }

    @Test func anotherSourceStartsOver() async throws {
        await leavePart(upTo: 8)
        let loader = InMemoryDataLoader(data.reversed(), source: "Another")
        try await TransferData(from: loader, to: saver)()
        #expect(saver.saved == data.reversed())
        #expect(loader.questions.first == Question(offset: 0, validator: nil))
    }

    /// Two sources without a validator are not the same version.
    @Test func anotherSourceWithoutAValidatorStartsOver() async throws {
        await leavePart(upTo: 8)
        try await TransferData(
            from: InMemoryDataLoader(data.reversed(), validator: nil, source: "Another"),
            to: saver
        )()
        #expect(saver.saved == data.reversed())
    }

    @Test func transferFromANamelessSourceLeavesNothingToResume() async throws {
        let failure = failure
        let loader = InMemoryDataLoader(data, source: nil) { (_, question) throws(DataLoaderError) in
            if question.offset == 8 { throw failure }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: loader, to: saver)() }
        #expect(saver.left == nil)
    }

    @Test func changedSourceStartsOver() async throws {
        let changed = data.map { $0 + 100 }
        let loader = InMemoryDataLoader(data) { loader, question in
            if question == Question(offset: 8, validator: "1") { loader.replace(with: changed, validator: "2") }
        }
        let report = try await TransferData(from: loader, to: saver)()
        #expect(saver.saved == changed)
        #expect(report.validator == "2")
        #expect(report.restartCount == 1)
        #expect(saver.savedCount == 1)
    }

    @Test func shrunkSourceStartsOver() async throws {
        let loader = InMemoryDataLoader(data) { loader, question in
            if question.offset == 8 { loader.replace(with: [1, 2], validator: "2") }
        }
        try await TransferData(from: loader, to: saver)()
        #expect(saver.saved == [1, 2])
    }

    @Test func sourceThatKeepsChangingFails() async throws {
        let count = Mutex(1)
        let loader = InMemoryDataLoader(data) { loader, question in
            guard question.offset > 0 else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            loader.replace(with: Array(0..<10), validator: "\(number)")
        }
        await #expect(throws: TransferDataError.restless(restartCount: 4)) {
            try await TransferData(from: loader, to: saver)()
        }
        #expect(saver.saved == nil)
    }

    @Test func dataWithoutAValidatorIsTransferredInOneChunk() async throws {
        let loader = InMemoryDataLoader(data, validator: nil)
        let report = try await TransferData(from: loader, to: saver)()
        #expect(loader.questions == [Question(offset: 0, validator: nil)])
        #expect(saver.saved == data)
        #expect(report.validator == nil)
    }

    @Test func stepsAreAppliedInOrder() async throws {
        let steps = PluginCollection<DataChunk>([Inverted(), Ended()])
        let report = try await TransferData(from: InMemoryDataLoader(data), through: steps, to: saver)()
        #expect(saver.saved == [0, 2, 4, 6, 8].map { ~$0 } + [10])
        #expect(report.loadedByteCount == 10)
        #expect(report.savedByteCount == 6)
    }

    @Test func resumableStepResumesInTheMiddle() async throws {
        let steps = PluginCollection<DataChunk>([Inverted()])
        await leavePart(upTo: 8, steps: steps)
        let report = try await TransferData(from: InMemoryDataLoader(data), through: steps, to: saver)()
        #expect(report.resumedAt == 8)
        #expect(saver.saved == data.map { ~$0 })
    }

    @Test func stepThatIsNotResumableStartsOver() async throws {
        let steps = PluginCollection<DataChunk>([Inverted(), Ended()])
        await leavePart(upTo: 8, steps: steps)
        #expect(saver.left == nil)
        let report = try await TransferData(from: InMemoryDataLoader(data), through: steps, to: saver)()
        #expect(report.resumedAt == 0 && report.loadedByteCount == 10)
        #expect(saver.saved == [0, 2, 4, 6, 8].map { ~$0 } + [10])
    }

    @Test func changedStepsStartOver() async throws {
        await leavePart(upTo: 8)
        let steps = PluginCollection<DataChunk>([Inverted()])
        let report = try await TransferData(from: InMemoryDataLoader(data), through: steps, to: saver)()
        #expect(report.resumedAt == 0)
        #expect(saver.saved == data.map { ~$0 })
    }

    @Test func cancelledTransferLeavesItsPart() async throws {
        let loader = InMemoryDataLoader(data) { _, question in
            if question.offset == 8 { Self.cancelThisTask() }
        }
        let (saver, transfer) = (saver, TransferData(from: loader, to: saver))
        let task = Task { try await transfer() }
        await #expect(throws: TransferDataError.cancelled) { try await task.value }
        #expect(saver.saved == nil)
        #expect(saver.left?.loadedByteCount == 8)
    }

    @Test func resultOfACancelledStepIsNotSaved() async throws {
        let giveUp = CustomPlugin<DataChunk, String>(identity: "gives up") { chunk in
            Self.cancelThisTask()
            return DataChunk([], at: chunk.offset, isLast: chunk.isLast)
        }
        let transfer = TransferData(
            from: InMemoryDataLoader([1]),
            through: PluginCollection([giveUp]),
            to: saver
        )
        let task = Task { try await transfer() }
        await #expect(throws: TransferDataError.cancelled) { try await task.value }
        #expect(saver.saved == nil)
    }

    @Test func deadlineEndsTheTransfer() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let loader = InMemoryDataLoader(data) { _, question in
            if question.offset == 8 { clock.advance(by: .seconds(2)) }
        }
        let transfer = TransferData(from: loader, to: saver)
        let result = await Deadline(in: .seconds(1), on: timer).carried { () async throws(TransferDataError) in
            try await transfer()
        }
        #expect(throws: TransferDataError.timedOut) { try result.get() }
        #expect(saver.left?.loadedByteCount == 8)
    }

    @Test func wholeDataSaverReceivesOnlyTheBytesAfterARestart() async throws {
        let saver = RecordingDataSaver()
        var draft = try await saver.openDraft()
        for byte in [1, 2] as [UInt8] {
            try await draft.begin()
            try await draft.append([byte], reaching: SavedPart(source: nil, validator: nil, steps: nil))
        }
        try await draft.publish(Checksum(of: [2].span))
        #expect(saver.saved == [[2]])
    }

    /// A server may return more than the requested range.
    @Test func bytesThatWereLoadedBeforeAreNotSavedAgain() async throws {
        struct Loader: DataLoader {
            let data: [UInt8]
            var source: String? { "The generous" }
            func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
                let start = max(0, offset - 3)
                let bytes = Array(data[start..<min(offset + 2, data.count)])
                let chunk = DataChunk(bytes, at: start, isLast: offset + 2 >= data.count)
                return LoadedChunk(chunk, validator: "1", totalByteCount: data.count)
            }
        }
        let report = try await TransferData(from: Loader(data: data), to: saver)()
        #expect(saver.saved == data)
        #expect(report.loadedByteCount == data.count)
        #expect(try await Loader(data: data).checksum()?.value == report.checksum)
    }

    @Test func loaderThatEndsEarlyFails() async throws {
        struct Loader: DataLoader {
            let chunk: LoadedChunk
            var source: String? { "The liar" }
            func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk { chunk }
        }
        let chunks = [
            LoadedChunk(DataChunk([1], at: 0, isLast: true), validator: "1", totalByteCount: 2),
            LoadedChunk(DataChunk([1], at: 1, isLast: true), validator: "1", totalByteCount: 2),
            LoadedChunk(DataChunk([1], at: 0, isLast: false), validator: nil, totalByteCount: 2),
            LoadedChunk(DataChunk([], at: 0, isLast: false), validator: "1", totalByteCount: 2),
        ]
        for chunk in chunks {
            let error = await #expect(throws: TransferDataError.self) {
                try await TransferData(from: Loader(chunk: chunk), to: saver)()
            }
            #expect(error?.description.contains("could not be loaded: The liar ") == true)
        }
        #expect(saver.saved == nil)
    }
}
