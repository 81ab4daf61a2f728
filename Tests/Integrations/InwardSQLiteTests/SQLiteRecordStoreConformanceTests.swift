#if SQLite
import Foundation
import InwardTesting
import TestSupport
import Testing

@testable import InwardSQLite

@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStoreConformanceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// With a log as it is, and with one that is written into the database all the time; pages as they are, and small ones.
    @Test(arguments: [4 << 20, 0], [512, 4_096]) func itConforms(logLength: Int, pageSize: Int) async throws {
        let url = directory.url.appending(path: "not/there")
        let reports = RecordDamageReports()
        try await RecordStoreConformance(isDurable: true, now: SQLiteRecordStore.testTime).check {
            SQLiteRecordStore.opened(
                url,
                limits: DatabaseLimits(pageSize: pageSize, logLength: logLength),
                reports: reports
            )
        }
        #expect(reports.all == [])
    }

    @Test func repositoriesConformOverIt() async throws {
        let url = directory.url.appending(path: "repositories")
        let reports = RecordDamageReports()
        try await RepositoryConformance(now: SQLiteRecordStore.testTime).check {
            SQLiteRecordStore.opened(url, reports: reports)
        }
        #expect(reports.all == [])
    }

    @Test func unitsOfWorkConformOverIt() async throws {
        let url = directory.url
        try await UnitOfWorkConformance(isDurable: true).check { place in
            try await .records(in: SQLiteRecordStore.opened(url.appending(path: place)), seed: 1)
        }
    }

    @Test func itKeepsNoHalfOfWhatTheDatabaseHasNoRoomFor() async throws {
        let url = directory.url.appending(path: "full")
        try await RecordStoreConformance(isDurable: true, now: SQLiteRecordStore.testTime).checkFullness {
            SQLiteRecordStore.opened(url, limits: DatabaseLimits(pageCount: 1_024))
        }
    }
}
#endif
