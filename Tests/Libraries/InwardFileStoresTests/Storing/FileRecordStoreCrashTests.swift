import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreCrashTests {
    private let directory: TemporaryDirectory
    private let history = RecordHistory()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Makes the commits until one fails, and returns the number of successful ones.
    private func commitAll(to store: FileRecordStore) async -> Int {
        for (index, changes) in history.commits.enumerated() {
            do { try await store.commit(changes) } catch { return index }
        }
        return history.commits.count
    }

    /// The limit for garbage, and the number of bytes that are written in the last step.
    private static let crashes = [0, 1 << 20].flatMap { slack in [0, 1, 30, 60, 100, 10_000].map { (slack, $0) } }

    /// Ends the process at each step in turn, after it has written the given number of bytes in that step.
    @Test(arguments: Thoroughness.sample(crashes, every: 5))
    func commitIsAtomicIfTheProcessEndsAtAnyStep(slack: Int, writtenCount: Int) async throws {
        var hasEnded = false
        var step = 0
        while !hasEnded {
            let url = directory.url.appending(path: "crash-\(step)")
            let steps = Mutex(0)
            let count: Int
            do {
                let store = FileRecordStore.opened(url, slack: slack) { [step] _ in
                    let current = steps.withLock { steps in
                        defer { steps += 1 }
                        return steps
                    }
                    guard current >= step else { return nil }
                    return RecordFileFault(code: EIO, writtenCount: current == step ? writtenCount : 0)
                }
                count = await commitAll(to: store)
            }
            hasEnded = steps.withLock(\.self) <= step
            let contents = try await FileRecordStore.opened(url).contents()
            let allowed = history.states[count...].prefix(2)
            #expect(allowed.contains(contents), "at step \(step), after \(count) commits")
            let store = FileRecordStore.opened(url, slack: slack)
            try await store.commit([.keep(StoredRecord([9]), ["new"])])
            #expect(try await FileRecordStore.opened(url).contents() == contents.merging([["new"]: [9]]) { $1 })
            try FileManager.default.removeItem(at: url)
            step += Thoroughness.stride(sampling: 7)
        }
        #expect(step > (slack == 0 ? 30 : 20))
    }

    /// Only flushed data survives: the contents of each file as of its last flush, under the names as of the last flush of the
    /// directory.
    @Test(arguments: [0, 1 << 20]) func commitSurvivesAPowerFailure(slack: Int) async throws {
        let url = directory.url.appending(path: "power")
        let disk = FlushedFiles(of: url)
        let store = FileRecordStore.opened(url, slack: slack) { step in
            disk.begin(step)
            return nil
        }
        for (index, changes) in history.commits.enumerated() {
            try await store.commit(changes)
            let survivor = directory.url.appending(path: "survivor-\(index)")
            try disk.write(to: survivor)
            #expect(try await FileRecordStore.opened(survivor).contents() == history.states[index + 1])
        }
    }

    /// After the failure, either the same store continues or another one takes over.
    @Test(arguments: Thoroughness.sample(0..<24, every: 5), [false, true])
    func commitAfterAFailedFlushFlushesEverything(failing: Int, isReplaced: Bool) async throws {
        let url = directory.url.appending(path: "flush")
        let disk = FlushedFiles(of: url)
        let flushes = Mutex(0)
        @Sendable func fault(_ step: RecordFileStep) -> RecordFileFault? {
            let isFlush = if case .flush = step { true } else { step == .flushDirectory }
            let fails = flushes.withLock { flushes in
                if isFlush { flushes += 1 }
                return isFlush && flushes - 1 == failing
            }
            disk.begin(fails ? nil : step)
            return fails ? RecordFileFault(code: EIO) : nil
        }
        var store = FileRecordStore.opened(url, slack: 0, faults: fault)
        var expected: [RecordKey: [UInt8]] = [:]
        for index in 0..<12 {
            let key: RecordKey = [String(index % 5)]
            do { try await store.commit([.keep(StoredRecord([UInt8(index)]), key)]) } catch {
                if isReplaced { store = FileRecordStore.opened(url, faults: fault) }
                continue
            }
            // The cleanup after a commit runs concurrently and is not part of the expectation.
            expected[key] = [UInt8(index)]
            let survivor = directory.url.appending(path: "survivor-\(index)")
            try disk.write(to: survivor)
            #expect(try await FileRecordStore.opened(survivor).contents() == expected, "after commit \(index)")
        }
    }

    @Test func unflushedDataOfAKilledProcessIsFlushedBeforeItIsReturned() async throws {
        let url = directory.url.appending(path: "left")
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        let disk = FlushedFiles(of: url)
        let death = Mutex(false)
        let killed = FileRecordStore.opened(url) { step in
            death.withLock { isDead in
                if case .flush = step { isDead = true }
                return isDead ? RecordFileFault(code: EIO) : nil
            }
        }
        await #expect(throws: RecordStoreError.self) { try await killed.commit([.keep(StoredRecord([2]), ["b"])]) }
        // The disk has no space for a rewrite.
        let store = FileRecordStore.opened(url) { step in
            disk.begin(step)
            return step == .open(RecordDirectory.newLog) ? RecordFileFault(code: ENOSPC) : nil
        }
        disk.adoptNames()
        let contents = try await store.contents()
        #expect(contents == [["a"]: [1], ["b"]: [2]])
        let survivor = directory.url.appending(path: "survivor")
        try disk.write(to: survivor)
        #expect(try await FileRecordStore.opened(survivor).contents() == contents)
    }

    @Test func storeContinuesAfterAFailedStep() async throws {
        for step in Thoroughness.sample(0..<40, every: 7) {
            let url = directory.url.appending(path: "once-\(step)")
            let steps = Mutex(0)
            let store = FileRecordStore.opened(url, slack: 0) { _ in
                steps.withLock { steps in
                    defer { steps += 1 }
                    return steps == step ? RecordFileFault(code: EIO, writtenCount: 50) : nil
                }
            }
            var expected: [RecordKey: [UInt8]] = [:]
            for index in 0..<12 {
                let key: RecordKey = [String(index % 5)]
                do {
                    try await store.commit([.keep(StoredRecord([UInt8(index)]), key), .remove(["none"])])
                    expected[key] = [UInt8(index)]
                } catch {
                    #expect(error.reason == .unavailable)
                }
                // The failing step may belong to a read.
                if let contents = try? await store.contents() { #expect(contents == expected, "at step \(step)") }
            }
            #expect(try await FileRecordStore.opened(url).contents() == expected, "at step \(step)")
        }
    }
}
