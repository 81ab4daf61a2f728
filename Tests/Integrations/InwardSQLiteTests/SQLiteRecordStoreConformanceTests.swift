#if SQLite
import Foundation
import InwardRepositories
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

    /// Runs with the usual log and with one that is checkpointed constantly, and with small and usual pages.
    @Test(arguments: [4 << 20, 0], [512, 4_096]) func storeConforms(logLength: Int, pageSize: Int) async throws {
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

    @Test func storeConformsAmongSeveralInstances() async throws {
        let url = directory.url.appending(path: "shared")
        let reports = RecordDamageReports()
        let conformance = SharedRecordStoreConformance(isDurable: true, now: SQLiteRecordStore.testTime)
        try await conformance.check { SQLiteRecordStore.opened(url, reports: reports) }
        try await conformance.checkClosing {
            SQLiteRecordStore.opened(url, reports: reports)
        } close: {
            await $0.close()
        }
        #expect(reports.all == [])
    }

    @Test func repositoriesOverTheStoreConform() async throws {
        let url = directory.url.appending(path: "repositories")
        let reports = RecordDamageReports()
        try await RepositoryConformance(now: SQLiteRecordStore.testTime).check {
            SQLiteRecordStore.opened(url, reports: reports)
        }
        #expect(reports.all == [])
    }

    @Test func responsesInTheStoreConform() async throws {
        let url = directory.url.appending(path: "responses")
        let reports = RecordDamageReports()
        try await ResponseStoreConformance {
            RecordResponseStore(SQLiteRecordStore.opened(url, reports: reports), under: ["responses"])
        }.check()
        #expect(reports.all == [])
    }

    @Test func unitsOfWorkOverTheStoreConform() async throws {
        let url = directory.url
        try await UnitOfWorkConformance(isDurable: true).check { place in
            try await .records(in: SQLiteRecordStore.opened(url.appending(path: place)), seed: 1)
        }
    }

    @Test func commitThatDoesNotFitInTheDatabaseChangesNothing() async throws {
        let url = directory.url.appending(path: "full")
        try await RecordStoreConformance(isDurable: true, now: SQLiteRecordStore.testTime).checkFullness {
            SQLiteRecordStore.opened(url, limits: DatabaseLimits(pageCount: 1_024))
        }
    }
}
#endif
