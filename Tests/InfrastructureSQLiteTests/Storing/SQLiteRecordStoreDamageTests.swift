#if SQLite
import Foundation
import Infrastructure
import InterfaceAdapters
import InwardTesting
import Testing

@testable import InfrastructureSQLite

/// What becomes of a database that somebody has changed, which has no log.
@Suite(.timeLimit(.minutes(10)))
struct SQLiteRecordStoreDamageTests {
    private static let database = "records/database.sqlite"

    private let directory: TemporaryDirectory
    private let history = RecordHistory()
    /// What is kept: what the history leaves, and more, so that there are pages of every kind.
    private let expected: [RecordKey: [UInt8]]

    init() throws {
        directory = try TemporaryDirectory()
        var expected = history.last
        for index in 0..<12 { expected[["more", String(index)]] = [UInt8](repeating: UInt8(index), count: 30) }
        expected[["long"]] = [UInt8](0..<250) + [UInt8](0..<250)
        self.expected = expected
    }

    /// A database without a log, of small pages.
    private func wholeDatabase() async throws -> [UInt8] {
        let url = directory.url.appending(path: "whole")
        let store = SQLiteRecordStore.opened(url, limits: DatabaseLimits(pageSize: 512))
        for changes in history.commits { try await store.commit(changes) }
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        try await store.commit(
            expected.filter { history.last[$0.key] == nil }.sorted { $0.key < $1.key }.enumerated().map { index, entry in
                .keep(StoredRecord(entry.value, expiry: index % 3 == 0 ? expiry : nil), entry.key)
            }
        )
        #expect(try await store.contents() == expected)
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: url.appending(path: Self.database + "-wal").path()))
        return Array(try Data(contentsOf: url.appending(path: Self.database)))
    }

    /// A directory of its own with a database in it.
    private func place(_ bytes: [UInt8], _ name: String) throws -> URL {
        let url = directory.url.appending(path: name)
        let records = url.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: Self.database))
        return url
    }

    /// Sees that a store over such a database gives nothing wrong, says of what is lost, and works from then on.
    private func check(_ bytes: [UInt8], _ comment: Comment) async throws -> (lost: Int, reports: [RecordDamage]) {
        let url = try place(bytes, "changed")
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, reports: reports)
        // Of what is changed beside it, a damaged place must keep nothing back.
        try await store.commit([.keep(StoredRecord([9]), ["new"]), .remove(["more", "5"]), .removeAll(["c"])])
        var rest = expected.filter { $0.key != ["more", "5"] && !(["c"] as RecordKey).contains($0.key) }
        rest[["new"]] = [9]
        let contents = try await store.contents()
        for (key, found) in contents { #expect(rest[key] == found, comment) }
        for key in expected.keys { #expect(try await store.record(for: key)?.bytes == contents[key], comment) }
        #expect(contents[["new"]] == [9], comment)
        await store.close()
        let lost = rest.count - contents.count
        #expect(lost == 0 || !reports.all.isEmpty, comment)
        for report in reports.all where report.path != nil {
            #expect(report.path.map { FileManager.default.fileExists(atPath: $0) } == true, comment)
        }
        let again = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, reports: again) == contents, comment)
        #expect(again.all == [], comment)
        try FileManager.default.removeItem(at: url)
        return (lost, reports.all)
    }

    @Test(arguments: [0xFF, 0x01] as [UInt8]) func noByteThatIsChangedMakesAnythingWrong(mask: UInt8) async throws {
        let database = try await wholeDatabase()
        #expect(database.count >= 8 * 512)
        var (lostCounts, reportCount) = ([Int](), 0)
        for index in database.indices {
            var bytes = database
            bytes[index] ^= mask
            let outcome = try await check(bytes, "behind a change of the byte \(index)")
            lostCounts.append(outcome.lost)
            reportCount += outcome.reports.isEmpty ? 0 : 1
        }
        print("XX", mask, database.count, "reports", reportCount, "lost", Dictionary(grouping: lostCounts) { $0 }.mapValues(\.count))
    }
}
#endif
