import Foundation
import InwardCore
import InwardFetching
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

/// The cache of responses over a store of files.
@Suite(.timeLimit(.minutes(5)))
struct FileResponseStoreTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let later = Date(timeIntervalSince1970: 33_000_000_000)

    /// The contents of two URLs after each commit.
    private static let states: [[String: [KeptResponse]]] = [
        [:],
        ["a": [response("one")], "b": [response("shared", of: 3_000)]],
        ["a": [response("two"), response("three")], "b": [response("shared", of: 3_000)]],
        ["a": [response("four", of: 3_000)]],
        ["a": [response("four", of: 3_000)], "b": [response("five")]],
    ]

    private static func response(_ name: String, of count: Int = 100) -> KeptResponse {
        KeptResponse(
            metadata: Data(name.utf8),
            body: Data(repeating: UInt8(count & 0xFF), count: count),
            expiry: later
        )
    }

    private static func changes(to state: [String: [KeptResponse]]) -> [ResponseStoreChange] {
        ["a", "b"].map { url in state[url].map { .keep($0, under: url) } ?? .remove(under: url) }
    }

    private func contents(of records: FileRecordStore) async throws -> [String: [KeptResponse]] {
        let store = RecordResponseStore(records, under: ["responses"])
        var contents: [String: [KeptResponse]] = [:]
        for url in ["a", "b"] {
            let responses = try await store.responses(for: url)
            if !responses.isEmpty { contents[url] = responses }
        }
        return contents
    }

    @Test(arguments: Thoroughness.sample([0, 4 << 20], every: 2)) func storeConforms(slack: Int) async throws {
        let url = directory.url.appending(path: "records")
        try await ResponseStoreConformance {
            RecordResponseStore(FileRecordStore.opened(url, slack: slack), under: ["responses"])
        }.check()
    }

    @Test func cacheFindsItsResponsesAfterARestart() async throws {
        let upstream = ScriptedDataFetcher([
            .answer(DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")], body: Data("1".utf8)))
        ])
        let request = DataRequest(url: try #require(URL(string: "http://upstream.test/a")))
        for isRestarted in [false, true] {
            let records = FileRecordStore(directory: directory.url.appending(path: "records"))
            let partition = ResponseCache(byteLimit: 100_000, clock: ManualClock())
                .makePartition(.shared, over: RecordResponseStore(records, under: ["responses"]))
            let response = try await upstream.caching(in: partition).fetch(request)
            #expect(response.body == Data("1".utf8))
            #expect((response.origin == .memory) == isRestarted)
            #expect(await partition.flush())
        }
    }

    /// A commit of responses is made as a whole, or not at all, and so it is after the process has ended.
    @Test(arguments: [0, 1 << 20]) func commitIsAtomicIfTheProcessEndsAtAnyStep(slack: Int) async throws {
        var (step, hasEnded) = (0, false)
        while !hasEnded {
            let url = directory.url.appending(path: "crash-\(step)")
            let steps = Mutex(0)
            var count = 0
            do {
                let records = FileRecordStore.opened(url, slack: slack) { [step] _ in
                    let current = steps.withLock { steps in
                        defer { steps += 1 }
                        return steps
                    }
                    return current < step ? nil : RecordFileFault(code: EIO, writtenCount: current == step ? 60 : 0)
                }
                let store = RecordResponseStore(records, under: ["responses"])
                for state in Self.states.dropFirst() {
                    do { try await store.commit(Self.changes(to: state)) } catch { break }
                    count += 1
                }
            }
            hasEnded = steps.withLock(\.self) <= step
            let found = try await contents(of: .opened(url))
            #expect(Self.states[count...].prefix(2).contains(found), "at step \(step), after \(count) commits")
            step += Thoroughness.stride(sampling: 3)
        }
        #expect(step > 10)
    }

    @Test func damagedResponseIsMissingButNeverWrong() async throws {
        let whole = directory.url.appending(path: "whole")
        let kept = Self.states[2]
        try await RecordResponseStore(FileRecordStore.opened(whole), under: ["responses"]).commit(
            Self.changes(to: kept)
        )
        let log = Array(try Data(contentsOf: whole.appending(path: "records")))
        var lossCount = 0
        for index in Thoroughness.sample(log.indices, every: 61) {
            let url = directory.url.appending(path: "changed")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            var bytes = log
            bytes[index] ^= 1
            try Data(bytes).write(to: url.appending(path: "records"))
            for (name, responses) in try await contents(of: .opened(url)) {
                #expect(responses.allSatisfy { kept[name]?.contains($0) == true }, "after a change of byte \(index)")
            }
            if try await contents(of: .opened(url)) != kept { lossCount += 1 }
            try FileManager.default.removeItem(at: url)
        }
        #expect(lossCount > 10)
    }
}
