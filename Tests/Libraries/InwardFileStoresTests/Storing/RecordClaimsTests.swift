import Foundation
import InwardRecordDirectories
import InwardRepositories
import TestSupport
import Testing

@testable import InwardFileStores

@Suite(.timeLimit(.minutes(5)))
struct RecordClaimsTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.url.path(percentEncoded: false))
            .filter { $0.hasSuffix(".lock") }
    }

    @Test func othersSeeTheNameOfTheOwner() async throws {
        let (one, other) = (FileRecordStore.opened(directory.url), FileRecordStore.opened(directory.url))
        guard case .claimed(let claim) = try await one.claim(["outbox"]) else {
            Issue.record("The key is not free.")
            return
        }
        guard case .owned(let owner) = try await other.claim(["outbox"]) else {
            Issue.record("The key is not owned.")
            return
        }
        let process = ProcessInfo.processInfo
        #expect(owner.hasPrefix("process \(process.processIdentifier) (\(process.processName)) on "))
        #expect(owner.hasSuffix(" since 2026-05-09T06:13:20Z"))
        #expect(try files().count == 1)
        await claim.release()
        #expect(try files() == [])
    }

    @Test func controlCharactersInTheOwnersNameAreEscaped() async throws {
        let store = FileRecordStore.opened(directory.url)
        guard case .claimed(let claim) = try await store.claim(["outbox"]) else {
            Issue.record("The key is not free.")
            return
        }
        let file = directory.url.appending(path: try #require(try files().first))
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data("\u{1B}[2Jgone".utf8))
        guard case .owned(let owner) = try await store.claim(["outbox"]) else {
            Issue.record("The key is not owned.")
            return
        }
        #expect(!owner.contains("\u{1B}"))
        await claim.release()
    }

    @Test func claimSucceedsOnAFullDisk() async throws {
        let store = FileRecordStore.opened(directory.url) { step in
            if case .write(let name, _) = step, name.hasSuffix(".lock") { RecordFileFault(code: ENOSPC) } else { nil }
        }
        guard case .claimed(let claim) = try await store.claim(["outbox"]) else {
            Issue.record("The key is not free.")
            return
        }
        guard case .owned(by: "another process") = try await store.claim(["outbox"]) else {
            Issue.record("The owner is not “another process”.")
            return
        }
        await claim.release()
    }

    @Test func lockFileThatCannotBeOpenedIsAnError() async throws {
        let store = FileRecordStore.opened(directory.url) { step in
            if case .open(let name) = step, name.hasSuffix(".lock") { RecordFileFault(code: EACCES) } else { nil }
        }
        let error = await #expect(throws: RecordStoreError.self) { _ = try await store.claim(["outbox"]) }
        #expect(error?.reason == .denied)
    }

    @Test func claimIsFreeAgainAfterEachRelease() async throws {
        let store = FileRecordStore.opened(directory.url)
        for _ in 0..<3 {
            guard case .claimed(let claim) = try await store.claim(["outbox"]) else {
                Issue.record("The key is not free.")
                return
            }
            await claim.release()
        }
    }
}
