import Foundation
import InwardRepositories
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

/// Tests which users can read and write the files of a store.
@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreOwnerTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "it's a store", directoryHint: .isDirectory)
    }

    private func mode(_ path: String) throws -> Int? {
        let file = url.appending(path: path).path(percentEncoded: false)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    private func setMode(_ mode: Int, _ path: String) throws {
        let file = url.appending(path: path).path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    private func failure() async -> RecordStoreError? {
        await #expect(throws: RecordStoreError.self) {
            try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        }
    }

    @Test func onlyTheOwnerHasAccessToTheFiles() async throws {
        let store = FileRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord(Array("damaged".utf8)), ["a"])])
        try url.appending(path: "records").changeByte(of: Array("damaged".utf8))
        #expect(try await store.record(for: ["a"]) == nil)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: url.path(percentEncoded: false))
        #expect(Set(paths).isSuperset(of: ["records", "lock", "damaged", "damaged/1"]))
        for path in paths + [""] {
            let isDirectory = ["", "damaged"].contains(path)
            #expect(try mode(path) == (isDirectory ? 0o700 : 0o600), "\(path)")
        }
    }

    @Test func filesThatOthersCanReadBecomePrivate() async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        for path in ["records", "lock"] { try setMode(0o666, path) }
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1]])
        for path in ["records", "lock"] { #expect(try mode(path) == 0o600, "\(path)") }
    }

    @Test func directoryThatOthersCanReadBecomesPrivate() async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        try setMode(0o755, "")
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1]])
        #expect(try mode("") == 0o700)
    }

    @Test(arguments: [0o720, 0o702, 0o777, 0o1777]) func directoryWritableByOthersIsRefused(mode: Int) async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        let bytes = try Data(contentsOf: url.appending(path: "records"))
        try setMode(mode, "")
        let error = await failure()
        #expect(error?.reason == .denied)
        let name = String(url.path(percentEncoded: false).dropLast()).replacingOccurrences(of: "'", with: "'\\''")
        #expect(error?.explanation.hasSuffix("chmod go-w '\(name)'") == true)
        #expect(try Data(contentsOf: url.appending(path: "records")) == bytes)
        try setMode(0o755, "")
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [1]])
    }

    /// Only the superuser can change the owner of a directory.
    @Test(.enabled(if: geteuid() == 0)) func directoryOfAnotherUserIsRefused() async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        let path = url.path(percentEncoded: false)
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: path)
        let error = await failure()
        #expect(error?.reason == .denied)
        #expect(error?.explanation.contains("belongs to the user 12345") == true)
        #expect(error?.explanation.contains("chown -R 0 '") == true)
    }
}
