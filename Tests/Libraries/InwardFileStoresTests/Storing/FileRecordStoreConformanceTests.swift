import Foundation
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreConformanceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs with no limit for garbage, so that the log is rewritten constantly, and with a large one. A sample has only the first,
    /// and the next test the second.
    @Test(arguments: Thoroughness.sample([0, 4 << 20], every: 2)) func storeConforms(slack: Int) async throws {
        let url = directory.url.appending(path: "not/there")
        let reports = RecordDamageReports()
        try await RecordStoreConformance(isDurable: true, now: FileRecordStore.testTime).check {
            FileRecordStore.opened(url, slack: slack, reports: reports)
        }
        #expect(reports.all == [])
    }

    @Test(arguments: Thoroughness.sample([4 << 20, 0], every: 2))
    func storeConformsAmongSeveralInstances(slack: Int) async throws {
        let url = directory.url.appending(path: "shared")
        let reports = RecordDamageReports()
        try await SharedRecordStoreConformance(isDurable: true, now: FileRecordStore.testTime).check {
            FileRecordStore.opened(url, slack: slack, reports: reports)
        }
        #expect(reports.all == [])
    }

    @Test func repositoriesOverTheStoreConform() async throws {
        let url = directory.url.appending(path: "repositories")
        let reports = RecordDamageReports()
        try await RepositoryConformance(now: FileRecordStore.testTime).check {
            FileRecordStore.opened(url, reports: reports)
        }
        #expect(reports.all == [])
    }

    @Test func commitThatDoesNotFitOnTheDiskChangesNothing() async throws {
        let free = Mutex(4 << 20)
        let url = directory.url.appending(path: "full")
        try await RecordStoreConformance(isDurable: true, now: FileRecordStore.testTime).checkFullness {
            FileRecordStore.opened(url) { step in
                guard case .write(_, let count) = step else { return nil }
                return free.withLock { free in
                    guard count > free else {
                        free -= count
                        return nil
                    }
                    return RecordFileFault(code: ENOSPC, writtenCount: free)
                }
            }
        }
    }

    /// Runs with a log that stays as it is, and with one that is rewritten constantly.
    @Test(arguments: [4 << 20, 0]) func storeRemembersItsLosses(slack: Int) async throws {
        let url = directory.url.appending(path: "lossy")
        let reports = RecordDamageReports()
        try await RecordStoreConformance(isDurable: true, now: FileRecordStore.testTime).checkLosses {
            FileRecordStore.opened(url, slack: slack, reports: reports)
        } damage: { _, bytes in
            // Holds the lock, because the store that has just written the record may be about to replace the log.
            var lock = RecordLock(RecordDirectory(url: url, faults: { _ in nil }))
            try lock.holding { Result { try url.appending(path: "records").changeByte(of: bytes) } }.get()
        }
        #expect(Set(reports.all.map(\.key)) == [["lost", "1"], ["lost", "2"]])
    }
}
