import Foundation
import InwardRecordDirectories
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

/// Tests of files and links that another user has created under the names of a saver's files.
struct FileDataSaverPlantingTests {
    private let directory: TemporaryDirectory
    private let data: [UInt8] = Array("0123456789".utf8)

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("secret", to: "outside")
        try directory.write("before", to: "here/data")
    }

    private var target: URL { directory.url.appending(path: "here/data") }

    private func save(
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) async throws(TransferDataError) {
        let saver = FileDataSaver(file: target, checkpointByteCount: 4, faults: faults)
        try await TransferData(from: InMemoryDataLoader(data), to: saver)()
    }

    /// Returns the error of a refused save, which changes neither the target nor the file outside.
    private func refusal(
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) async throws -> String {
        let error = await #expect(throws: TransferDataError.self) { try await save(faults: faults) }
        #expect(try directory.contents(of: "here/data") == "before")
        #expect(try directory.contents(of: "outside") == "secret")
        return error?.description ?? ""
    }

    private func makePipe(_ path: String) {
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        #expect(unsafe mkfifo(directory.url.appending(path: path).path(percentEncoded: false), 0o600) == 0)
    }

    @Test func symbolicLinkInPlaceOfThePartialFileIsRefused() async throws {
        try directory.link("here/.data.inward-part", to: "../outside")
        _ = try await refusal()
    }

    @Test func hardLinkInPlaceOfThePartialFileIsRefused() async throws {
        try FileManager.default.linkItem(
            at: directory.url.appending(path: "outside"),
            to: directory.url.appending(path: "here/.data.inward-part")
        )
        #expect(try await refusal().contains("is not used"))
    }

    @Test func pipeInPlaceOfThePartialFileIsRefusedWithoutBlocking() async throws {
        makePipe("here/.data.inward-part")
        _ = try await refusal()
    }

    @Test(arguments: [0o620, 0o602]) func partialFileThatOthersCanWriteToIsRefused(permissions: Int) async throws {
        try directory.write("", to: "here/.data.inward-part")
        let path = directory.url.appending(path: "here/.data.inward-part").path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        #expect(try await refusal().contains("is not a regular file that only this user can write to"))
    }

    /// Leaves a partial file of eight bytes, and its note.
    private func leavePart() async throws {
        let loader = InMemoryDataLoader(data) { (_, question) throws(DataLoaderError) in
            if question.offset == 8 { throw DataLoaderError(source: "The memory", explanation: "is gone") }
        }
        await #expect(throws: TransferDataError.self) {
            try await TransferData(from: loader, to: FileDataSaver(file: target, checkpointByteCount: 4))()
        }
    }

    /// The note determines where a transfer resumes.
    @Test(arguments: ["link", "second name", "pipe", "writable"])
    func untrustedNoteIsIgnored(kind: String) async throws {
        try await leavePart()
        let note = directory.url.appending(path: "here/.data.inward-state")
        let moved = directory.url.appending(path: "here/moved")
        switch kind {
        case "link":
            try FileManager.default.moveItem(at: note, to: moved)
            try directory.link("here/.data.inward-state", to: "moved")
        case "second name": try FileManager.default.linkItem(at: note, to: moved)
        case "pipe":
            try FileManager.default.removeItem(at: note)
            makePipe("here/.data.inward-state")
        default:
            let path = note.path(percentEncoded: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        }
        let loader = InMemoryDataLoader(data)
        let report = try await TransferData(from: loader, to: FileDataSaver(file: target))()
        #expect(report.resumedAt == 0)
        #expect(try directory.contents(of: "here/data") == "0123456789")
    }

    @Test(arguments: [false, true]) func noteIsWrittenToANewFile(isPipe: Bool) async throws {
        let name = "here/.data.inward-state.new"
        if isPipe { makePipe(name) } else { try directory.link(name, to: "../outside") }
        try await save()
        #expect(try directory.contents(of: "here/data") == "0123456789")
        #expect(try directory.contents(of: "outside") == "secret")
    }

    @Test func partialFileReplacedBeforePublishingIsRefused() async throws {
        let part = directory.url.appending(path: "here/.data.inward-part")
        let refusal = try await refusal { step in
            guard step == .rename(".data.inward-part") else { return nil }
            try? FileManager.default.removeItem(at: part)
            try? Data("planted".utf8).write(to: part)
            return nil
        }
        #expect(refusal.contains(".data.inward-part"))
    }

    /// The saver opens the directory once and then ignores its path.
    @Test func directoryReplacedByALinkIsNotFollowed() async throws {
        let url = directory.url
        try directory.write("secret", to: "elsewhere/data")
        let isMoved = Mutex(false)
        try await save { step in
            guard case .write(".data.inward-part", _) = step,
                isMoved.withLock({ isMoved in
                    defer { isMoved = true }; return !isMoved
                })
            else { return nil }
            try? FileManager.default.moveItem(at: url.appending(path: "here"), to: url.appending(path: "aside"))
            try? FileManager.default.createSymbolicLink(
                at: url.appending(path: "here"),
                withDestinationURL: url.appending(path: "elsewhere")
            )
            return nil
        }
        #expect(try directory.contents(of: "elsewhere/data") == "secret")
        #expect(try directory.contents(of: "aside/data") == "0123456789")
    }

    @Test func symbolicLinkInPlaceOfTheTargetIsReplaced() async throws {
        try FileManager.default.removeItem(at: target)
        try directory.link("here/data", to: "../outside")
        try await save()
        #expect(try directory.contents(of: "here/data") == "0123456789")
        #expect(try directory.contents(of: "outside") == "secret")
    }
}
