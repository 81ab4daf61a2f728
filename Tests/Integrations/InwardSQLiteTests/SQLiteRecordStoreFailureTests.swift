#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardSQLite

@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStoreFailureTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func failure(
        of store: SQLiteRecordStore,
        _ bytes: [UInt8] = [1]
    ) async -> RecordStoreError? {
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(StoredRecord(bytes), ["a"])]) }
    }

    @Test func fullDatabaseIsReportedAndLosesNothing() async throws {
        let store = SQLiteRecordStore.opened(url, limits: DatabaseLimits(pageCount: 16))
        try await store.commit([.keep(StoredRecord([0]), ["before"])])
        let error = await failure(of: store, [UInt8](repeating: 1, count: 100_000))
        #expect(error?.reason == .full)
        #expect(error?.explanation.contains("store/records/database.sqlite") == true)
        #expect(error?.explanation.contains("Free some space") == true)
        #expect(try await store.contents() == [["before"]: [0]])
        try await store.commit([.keep(StoredRecord([2]), ["after"])])
        await store.close()
        let reports = RecordDamageReports()
        let contents = try await SQLiteRecordStore.contents(of: url, reports: reports)
        #expect(contents == [["before"]: [0], ["after"]: [2]])
        #expect(reports.all == [])
    }

    @Test func fullDiskIsReportedAndUndoesTheCommit() async throws {
        let isFull = Mutex(false)
        let store = SQLiteRecordStore.opened(url) { step in
            guard case .flush = step, isFull.withLock(\.self) else { return nil }
            return RecordFileFault(code: ENOSPC)
        }
        try await store.commit([.keep(StoredRecord([0]), ["before"])])
        isFull.withLock { $0 = true }
        #expect(await failure(of: store)?.reason == .full)
        #expect(try await store.contents() == [["before"]: [0]])
        isFull.withLock { $0 = false }
        try await store.commit([.keep(StoredRecord([2]), ["after"])])
        await store.close()
        #expect(try await SQLiteRecordStore.contents(of: url) == [["before"]: [0], ["after"]: [2]])
    }

    @Test(arguments: [EACCES, EPERM, EROFS]) func missingPermissionIsDenied(code: Int32) async throws {
        let store = SQLiteRecordStore.opened(url) { step in
            if case .open = step { RecordFileFault(code: code) } else { nil }
        }
        let error = await failure(of: store)
        #expect(error?.reason == .denied)
        #expect(error?.explanation.contains("Give the user") == true)
    }

    @Test(.enabled(if: geteuid() != 0), arguments: ["", "records/database.sqlite"])
    func readOnlyDirectoryOrDatabaseIsDenied(name: String) async throws {
        let store = SQLiteRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        await store.close()
        if name.isEmpty { try FileManager.default.removeItem(at: url.appending(path: "lock")) }
        let path = url.appending(path: name).path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
        let error = await failure(of: SQLiteRecordStore.opened(url))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(error?.reason == .denied)
        #expect(try await SQLiteRecordStore.contents(of: url) == [["a"]: [1]])
    }

    @Test(arguments: ["file/store", "file", "link"]) func pathThatIsNotADirectoryIsAnError(path: String) async throws {
        try directory.write("a file", to: "file")
        try directory.link("link", to: "nowhere")
        let error = await failure(of: SQLiteRecordStore.opened(directory.url.appending(path: path)))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "file") == "a file")
    }

    @Test func symbolicLinkInTheDirectoryIsNotFollowed() async throws {
        try directory.write("foreign", to: "other")
        try directory.write("", to: "store/records/foreign")
        try directory.link("store/records/database.sqlite", to: "../../other")
        let error = await failure(of: SQLiteRecordStore.opened(url))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "other") == "foreign")
    }

    @Test func nextAttemptSucceedsAfterASingleFailure() async throws {
        let steps = Mutex(0)
        for failing in stride(from: 0, to: 180, by: 3) {
            let place = directory.url.appending(path: "once-\(failing)")
            steps.withLock { $0 = 0 }
            let store = SQLiteRecordStore.opened(place, limits: DatabaseLimits(logLength: 0)) { _ in
                steps.withLock { steps in
                    defer { steps += 1 }
                    return steps == failing ? RecordFileFault(code: EIO) : nil
                }
            }
            var expected: [RecordKey: [UInt8]] = [:]
            for index in 0..<8 {
                let key: RecordKey = [String(index % 4)]
                do {
                    try await store.commit([.keep(StoredRecord([UInt8(index)]), key), .remove(["none"])])
                    expected[key] = [UInt8(index)]
                } catch {
                    #expect(error.reason == .unavailable)
                }
                // The failing step may belong to a read.
                guard let contents = try? await store.contents() else { continue }
                #expect(contents == expected, "at step \(failing)")
            }
            #expect(expected.count == 4)
            await store.close()
            #expect(try await SQLiteRecordStore.contents(of: place) == expected, "at step \(failing)")
        }
        // The last run ends before its failing step, so the runs cover all steps of a run.
        #expect(steps.withLock(\.self) < 177)
    }
}
#endif
