#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardSQLite

@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStorePageTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func keys(_ page: [(key: RecordKey, record: StoredRecord)]) -> [RecordKey] { page.map(\.key) }

    @Test(arguments: [1, 3, 300, 1_000, .max]) func pagesAreCompleteAndInOrder(limit: Int) async throws {
        let store = SQLiteRecordStore.opened(url)
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
        let store = SQLiteRecordStore.opened(url)
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

    @Test func expiredRecordsAreReplacedByTheNextOnes() async throws {
        let store = SQLiteRecordStore.opened(url)
        try await store.commit(
            (0..<6).map { index in
                let expiry = index % 2 == 0 ? SQLiteRecordStore.testTime : nil
                return .keep(StoredRecord([UInt8(index)], expiry: expiry), [String(index)])
            }
        )
        #expect(keys(try await store.records(under: [], after: nil, limit: 1)) == [["1"]])
        #expect(keys(try await store.records(under: [], after: ["1"], limit: 2)) == [["3"], ["5"]])
    }

    /// Damage to a record that a page does not contain goes unnoticed, because the record is not read.
    @Test func onlyTheRecordsOfThePageAreRead() async throws {
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, reports: reports)
        try await store.commit((0..<9).map { .keep(StoredRecord(Array("number \($0)".utf8)), [String($0)]) })
        await store.close()
        let file = url.appending(path: "records/database.sqlite")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.firstRange(of: Data("number 5".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        let again = SQLiteRecordStore.opened(url, reports: reports)
        #expect(keys(try await again.records(under: [], after: ["2"], limit: 2)) == [["3"], ["4"]])
        #expect(try await again.records(for: [["4"], ["none"], ["6"]]).map { $0 == nil } == [false, true, false])
        let leases = try await again.lease(under: [], limit: 5, for: .seconds(10))
        #expect(leases.map(\.lease.key.description) == ["0", "1", "2", "3", "4"])
        #expect(reports.all == [])
        // A damaged record is replaced by the next one.
        #expect(keys(try await again.records(under: [], after: ["2"], limit: 3)) == [["3"], ["4"], ["6"]])
        #expect(reports.all.map(\.key) == [["5"]])
    }
}
#endif
