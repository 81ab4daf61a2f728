import Dispatch
import Foundation
import InwardCore
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFileStores

/// Tests how long tasks wait for a store.
@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreWaitTests {
    private static let perl = "/usr/bin/perl"
    private static let hasPerl = FileManager.default.isExecutableFile(atPath: perl)

    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    /// Another process that holds the lock of a store and has been stopped.
    private final class StoppedProcess {
        private let process: SpawnedProcess

        init(locking file: URL) throws {
            let output = Pipe()
            let script = "open(F, '+<', shift) or die; flock(F, 2) or die; $| = 1; print 'locked'; sleep"
            process = try SpawnedProcess(
                FileRecordStoreWaitTests.perl,
                ["-e", script, file.path(percentEncoded: false)],
                output: output.fileHandleForWriting
            )
            #expect(try output.fileHandleForReading.read(upToCount: 6) == Data("locked".utf8))
            kill(process.identifier, SIGSTOP)
        }

        func end() {
            kill(process.identifier, SIGKILL)
            _ = process.wait()
        }
    }

    @Test(.enabled(if: hasPerl)) func waitForAStoppedProcessEndsAtTheDeadlineOrCancellation() async throws {
        let locking = AsyncStream.makeStream(of: Void.self)
        let isStopped = Mutex(false)
        let store = FileRecordStore.opened(url) { step in
            if step == .lock(RecordDirectory.lock), isStopped.withLock(\.self) { locking.continuation.yield() }
            return nil
        }
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        let process = try StoppedProcess(locking: url.appending(path: "lock"))
        isStopped.withLock { $0 = true }
        let other = FileRecordStore.opened(url)

        // A commit waits for the lock, and so does the first read of a store. The clock stands still until the commit is about
        // to wait for the lock, so that the deadline ends a wait and not a commit that never began.
        let clock = ManualClock()
        let deadline = Deadline(in: .seconds(1), on: TimerService(clock))
        async let commit = deadline.bound { () async throws(RecordStoreError) in
            try await store.commit([.keep(StoredRecord([2]), ["b"])])
        }
        async let reading = deadline.bound { () async throws(RecordStoreError) in try await other.record(for: ["a"]) }
        for await _ in locking.stream { break }
        clock.advance(by: .seconds(1))
        #expect(await commit == nil)
        #expect(await reading == nil)
        let reasons = await withTaskGroup(of: RecordStoreError.Reason?.self) { group in
            group.addTask {
                do throws(RecordStoreError) { try await store.commit([.keep(StoredRecord([3]), ["c"])]) } catch {
                    return error.reason
                }
                return nil
            }
            group.addTask {
                do throws(RecordStoreError) { _ = try await other.records(under: []) } catch { return error.reason }
                return nil
            }
            group.cancelAll()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reasons == [.cancelled, .cancelled])
        // Records that the store knows already are read without the lock.
        #expect(try await store.record(for: ["a"])?.bytes == [1])

        process.end()
        try await store.commit([.keep(StoredRecord([4]), ["d"])])
        #expect(try await other.contents() == [["a"]: [1], ["d"]: [4]])
    }

    @Test func startedCommitFinishesDespiteCancellation() async throws {
        let flushing = AsyncStream.makeStream(of: Void.self)
        let isCancelled = DispatchSemaphore(value: 0)
        let hasBegun = Mutex(false)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step, hasBegun.withLock(\.self) else { return nil }
            flushing.continuation.finish()
            isCancelled.wait()
            return nil
        }
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        hasBegun.withLock { $0 = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await store.commit([.keep(StoredRecord([2]), ["a"])]) }
            for await _ in flushing.stream {}
            group.cancelAll()
            isCancelled.signal()
            try await group.waitForAll()
        }
        hasBegun.withLock { $0 = false }
        #expect(try await FileRecordStore.opened(url).contents() == [["a"]: [2]])
    }

    @Test func passedDeadlineFailsBeforeWaiting() async throws {
        let store = FileRecordStore.opened(url)
        let commit = await Deadline(in: .zero).carried { () async throws(RecordStoreError) in
            try await store.commit([.keep(StoredRecord([1]), ["a"])])
        }
        #expect(throws: RecordStoreError.self) { try commit.get() }
        #expect(try await store.contents() == [:])
    }
}
