import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardFileStores

@Suite(.timeLimit(.minutes(5)))
struct FileRecordStorePageTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func keys(_ page: [(key: RecordKey, record: StoredRecord)]) -> [RecordKey] { page.map(\.key) }

    @Test(arguments: [1, 3, 300, 1_000, .max]) func pagesAreCompleteAndInOrder(limit: Int) async throws {
        let store = FileRecordStore.opened(url)
        // Enough records for several chunks of the index.
        let posts = (0..<700).map { RecordKey(["posts", String($0)]) }.sorted()
        let others: [RecordKey] = [["a"], ["posts0"], ["z", "1"]]
        try await store.commit((posts + others).map { .keep(StoredRecord(Array($0.description.utf8)), $0) })
        var (pages, last) = ([RecordKey](), RecordKey?.none)
        repeat {
            let page = try await store.records(under: ["posts"], after: last, limit: limit)
            #expect(page.count <= limit)
            for (key, record) in page { #expect(record.bytes == Array(key.description.utf8)) }
            pages += page.map(\.key)
            last = page.last?.key
        } while last != nil
        #expect(pages == posts)
    }

    @Test func pageBeginsAfterAKeyThatNeedNotExist() async throws {
        let store = FileRecordStore.opened(url)
        let all: [RecordKey] = [["b"], ["b", "1"], ["b", "3"], ["c"]]
        try await store.commit(all.map { .keep(StoredRecord([1]), $0) })
        func page(_ last: RecordKey?, under key: RecordKey = ["b"], limit: Int = 9) async throws -> [RecordKey] {
            keys(try await store.records(under: key, after: last, limit: limit))
        }
        #expect(try await page(nil) == [["b"], ["b", "1"], ["b", "3"]])
        #expect(try await page(["a"]) == [["b"], ["b", "1"], ["b", "3"]])
        #expect(try await page([]) == [["b"], ["b", "1"], ["b", "3"]])
        #expect(try await page(["b"]) == [["b", "1"], ["b", "3"]])
        #expect(try await page(["b", "2"]) == [["b", "3"]])
        #expect(try await page(["b", "3"]) == [])
        #expect(try await page(["c"]) == [])
        #expect(try await page(["z"]) == [])
        #expect(try await page(["b", "3"], under: []) == [["c"]])
        #expect(try await page(nil, limit: 0) == [])
        #expect(try await page(nil, limit: -1) == [])
        #expect(try await page(nil, under: ["none"]) == [])
    }

    @Test func expiredAndDamagedRecordsAreReplacedByTheNextOnes() async throws {
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, reports: reports)
        try await store.commit(
            (0..<6).map { index in
                let expiry = index % 2 == 0 ? FileRecordStore.testTime : nil
                return .keep(StoredRecord(Array("number \(index)".utf8), expiry: expiry), [String(index)])
            }
        )
        try url.appending(path: "records").changeByte(of: Array("number 1".utf8))
        #expect(keys(try await store.records(under: [], after: nil, limit: 1)) == [["3"]])
        #expect(reports.all.map(\.key) == [["1"]])
        #expect(keys(try await store.records(under: [], after: nil, limit: 2)) == [["3"], ["5"]])
    }

    @Test func onlyTheRecordsOfThePageAreRead() async throws {
        let readCount = Mutex(0)
        let store = FileRecordStore.opened(url) { step in
            if case .read("records", _, 1_000) = step { readCount.withLock { $0 += 1 } }
            return nil
        }
        let record = StoredRecord([UInt8](repeating: 1, count: 1_000))
        try await store.commit((0..<100).map { .keep(record, [String($0)]) })
        _ = try await store.records(under: [], after: ["5"], limit: 7)
        #expect(readCount.withLock(\.self) == 7)
        #expect(try await store.records(for: [["1"], ["none"], ["2"]]).count == 3)
        #expect(readCount.withLock(\.self) == 9)
        #expect(try await store.lease(under: [], limit: 4, for: .seconds(10)).count == 4)
        #expect(readCount.withLock(\.self) == 13)
    }
}
