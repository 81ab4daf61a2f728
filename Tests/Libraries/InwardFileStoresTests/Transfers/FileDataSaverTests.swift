import Foundation
import InwardFetching
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import InwardTransfers
import Synchronization
import TestSupport
import Testing

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

struct FileDataSaverTests {
    private let directory: TemporaryDirectory
    private let data: [UInt8] = Array("0123456789".utf8)

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var target: URL { directory.url.appending(path: "data") }
    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path(percentEncoded: false)).sorted()
        }
    }

    private func saver(
        checkpointByteCount: Int = 4,
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) -> FileDataSaver {
        FileDataSaver(file: target, checkpointByteCount: checkpointByteCount, faults: faults)
    }

    /// Runs a transfer that fails when the chunk at an offset is requested.
    private func leavePart(upTo offset: Int) async {
        let loader = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == offset { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) { try await TransferData(from: loader, to: saver())() }
    }

    @Test func savedDataReplacesTheTarget() async throws {
        try directory.write("before", to: "data")
        try await TransferData(from: InMemoryDataLoader(data), to: saver())()
        #expect(try directory.contents(of: "data") == "0123456789")
        #expect(try names == ["data"])
        try await saver().save([0x78])
        #expect(try directory.contents(of: "data") == "x")
        #expect(try names == ["data"])
    }

    @Test func missingDirectoryIsCreated() async throws {
        let file = directory.url.appending(path: "not/there/yet")
        try await FileDataSaver(file: file).save(data)
        #expect(try directory.contents(of: "not/there/yet") == "0123456789")
    }

    @Test func targetIsUnchangedUntilTheDataIsComplete() async throws {
        try directory.write("before", to: "data")
        await leavePart(upTo: 8)
        #expect(try directory.contents(of: "data") == "before")
        #expect(try names == [".data.inward-part", ".data.inward-state", "data"])
    }

    @Test func interruptedTransferResumes() async throws {
        await leavePart(upTo: 8)
        let loader = InMemoryDataLoader(data)
        let report = try await TransferData(from: loader, to: saver())()
        #expect(report.resumedAt == 8)
        #expect(loader.questions.map(\.offset) == [8])
        #expect(try directory.contents(of: "data") == "0123456789")
        #expect(try names == ["data"])
    }

    /// A killed process writes no final note, and may have written more bytes than its last note says. To simulate this, the
    /// test restores the files as they were after an earlier note.
    @Test func bytesAfterTheLastNoteAreWrittenAgain() async throws {
        var draft = try await saver(checkpointByteCount: 4).openDraft()
        try await draft.begin()
        for (bytes, count) in [("0123", 4), ("4x", 6)] {
            let part = SavedPart(
                source: "The memory",
                validator: "1",
                steps: [],
                loadedByteCount: count,
                savedByteCount: count,
                checksum: Checksum(of: Array("0123".utf8).span).value
            )
            try await draft.append(Array(bytes.utf8), reaching: part)
        }
        for name in ["inward-part", "inward-state"] {
            try directory.write(directory.contents(of: ".data.\(name)"), to: ".other.\(name)")
        }
        await draft.leave()
        #expect(try directory.contents(of: ".other.inward-part") == "01234x")
        let other = FileDataSaver(file: directory.url.appending(path: "other"), checkpointByteCount: 4)
        let report = try await TransferData(from: InMemoryDataLoader(data), to: other)()
        #expect(report.resumedAt == 4)
        #expect(try directory.contents(of: "other") == "0123456789")
    }

    @Test func transferStartsOverIfThePartialFileIsDamaged() async throws {
        await leavePart(upTo: 8)
        try directory.write("01x34567", to: ".data.inward-part")
        let report = try await TransferData(from: InMemoryDataLoader(data), to: saver())()
        #expect(report.resumedAt == 0)
        #expect(try directory.contents(of: "data") == "0123456789")
    }

    @Test func transferStartsOverIfTheNoteIsDamaged() async throws {
        await leavePart(upTo: 8)
        let note = [UInt8](try Data(contentsOf: directory.url.appending(path: ".data.inward-state")))
        #expect(SavedPart(note: note)?.loadedByteCount == 8)
        for index in note.indices.dropLast() {
            var damaged = note
            damaged[index] ^= 1
            #expect(SavedPart(note: damaged) == nil, "byte \(index)")
        }
        #expect(SavedPart(note: []) == nil)
        try directory.write(String(decoding: note.dropLast(3), as: UTF8.self), to: ".data.inward-state")
        let report = try await TransferData(from: InMemoryDataLoader(data), to: saver())()
        #expect(report.resumedAt == 0)
        #expect(try directory.contents(of: "data") == "0123456789")
    }

    @Test func transferStartsOverIfThePartialFileIsTooShort() async throws {
        await leavePart(upTo: 8)
        try directory.write("0123", to: ".data.inward-part")
        #expect(try await TransferData(from: InMemoryDataLoader(data), to: saver())().resumedAt == 0)
    }

    @Test func onlyOneTransferWritesAtATime() async throws {
        var first = try await saver().openDraft()
        try await first.begin()
        let error = await #expect(throws: DataSaverError.self) { try await saver().openDraft() }
        #expect(error?.explanation == "failed: another transfer is writing the file")
        await first.leave()
        #expect(try names == [])
    }

    /// A child process shares every descriptor until it runs its program. A copy of the descriptor simulates such a child.
    @Test(arguments: [false, true]) func closingTheFileUnlocksItDespiteAChildProcess(isClosed: Bool) throws {
        let path = directory.url.appending(path: "lock").path(percentEncoded: false)
        func open() throws(RecordStoreError) -> RecordFile {
            try RecordFile("lock", path: path, flags: O_RDWR | O_CREAT) { _ in nil }
        }
        var file: RecordFile? = try open()
        #expect(try file?.lockAtOnce() == true)
        let copy = dup(
            (file.flatMap { Mirror(reflecting: $0).descendant("handle") } as? FileHandle)?.fileDescriptor ?? -1
        )
        try #require(copy >= 0)
        if isClosed { file?.close() }
        file = nil
        #expect(try open().lockAtOnce())
        #expect(close(copy) == 0)
    }

    @Test func dataThatReadsBackDifferentlyReplacesNothing() async throws {
        try directory.write("before", to: "data")
        let part = target.deletingLastPathComponent().appending(path: ".data.inward-part")
        // The disk returns a byte that differs from what was written.
        let saver = saver { step in
            if step == .flush(".data.inward-part") { try? Data("0123x56789".utf8).write(to: part) }
            return nil
        }
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        }
        #expect(error?.description.contains("the data read back differs from what was written") == true)
        #expect(try directory.contents(of: "data") == "before")
        #expect(try names == ["data"])
    }

    @Test(arguments: [
        RecordFileStep.flush(".data.inward-part"), .rename(".data.inward-part"), .truncate(".data.inward-part"),
        .open(".data.inward-part"), .write(".data.inward-part", byteCount: 4),
    ])
    func failedFileOperationReplacesNothing(failing: RecordFileStep) async throws {
        try directory.write("before", to: "data")
        let saver = saver { $0 == failing ? RecordFileFault(code: ENOSPC) : nil }
        let error = await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InMemoryDataLoader(data), to: saver)()
        }
        #expect(error?.description.contains("Saving to “\(target.path(percentEncoded: false))” failed: ") == true)
        #expect(error?.description.contains("Free some space") == true)
        #expect(try directory.contents(of: "data") == "before")
        // The next run can use the partial file.
        try await TransferData(from: InMemoryDataLoader(data), to: self.saver())()
        #expect(try directory.contents(of: "data") == "0123456789")
        #expect(try names == ["data"])
    }

    @Test func everythingIsFlushedBeforeAndAfterTheRename() async throws {
        let steps = Mutex<[RecordFileStep]>([])
        let saver = saver { step in
            steps.withLock { $0.append(step) }
            return nil
        }
        try await saver.save(data)
        let order: [RecordFileStep] = [
            .flush(".data.inward-part"), .rename(".data.inward-part"), .flushDirectory,
        ]
        #expect(steps.withLock(\.self).filter(order.contains).suffix(3) == order[...])
    }

    @Test func directoryIsNotReplaced() async throws {
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let error = await #expect(throws: DataSaverError.self) { try await saver().save(data) }
        #expect(error?.description.contains("Something else is in its place") == true)
        #expect(try names == ["data"])
    }

    @Test(arguments: [1, 1 << 20]) func saverConforms(checkpointByteCount: Int) async throws {
        let target = target
        try await DataSaverConformance { (try? Data(contentsOf: target)).map { [UInt8]($0) } }
            .check(saver(checkpointByteCount: checkpointByteCount))
        #expect(try names == ["data"])
    }

    @Test func fileIsCopied() async throws {
        try directory.write("0123456789", to: "source")
        let loader = FileDataLoader(file: directory.url.appending(path: "source"), chunkByteCount: 3)
        let report = try await TransferData(from: loader, to: saver())()
        #expect(report.savedByteCount == 10)
        #expect(try directory.contents(of: "data") == "0123456789")
    }
}
