import Foundation
import InwardRepositories
import InwardTesting
import Synchronization
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct SharedRecordStoreConformanceTests {
    private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// A clock that the check advances.
    private final class Time: Sendable {
        private let date: Mutex<Date>

        init(_ date: Date) {
            self.date = Mutex(date)
        }

        var now: Date { date.withLock(\.self) }

        func advance(by duration: Duration) {
            date.withLock { $0 += duration / .seconds(1) }
        }
    }

    private func check(_ flaw: FlawedSharedRecordStore.Flaw?) async throws {
        let place = FlawedSharedRecordStore.Place()
        try await SharedRecordStoreConformance(isDurable: true, announcesToOthers: true, now: now).check {
            FlawedSharedRecordStore(flaw: flaw, at: place, now: { now })
        }
    }

    private func checkTime(_ flaw: FlawedSharedRecordStore.Flaw?) async throws {
        let time = Time(now)
        let place = FlawedSharedRecordStore.Place()
        try await SharedRecordStoreConformance(isDurable: true, now: now).checkTime {
            FlawedSharedRecordStore(flaw: flaw, at: place, now: { time.now })
        } advance: {
            time.advance(by: $0)
        }
    }

    @Test func correctStorePasses() async throws {
        try await check(nil)
        try await checkTime(nil)
    }

    @Test func inMemoryStorePasses() async throws {
        try await SharedRecordStoreConformance(isDurable: false, now: now).check { InMemoryRecordStore(now: { now }) }
        // On a clock that does not stand still either.
        try await SharedRecordStoreConformance(isDurable: false, now: Date()).check { InMemoryRecordStore() }
    }

    @Test func inMemoryStorePassesOverTime() async throws {
        let time = Time(now)
        try await SharedRecordStoreConformance(isDurable: false, now: now).checkTime {
            InMemoryRecordStore(now: { time.now })
        } advance: {
            time.advance(by: $0)
        }
    }

    @Test func inMemoryStoreIsNotDurable() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await SharedRecordStoreConformance(isDurable: true, now: now).check {
                InMemoryRecordStore(now: { now })
            }
        }
    }

    @Test func storeThatCannotBeOpenedIsReported() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await SharedRecordStoreConformance(isDurable: true, now: now).check {
                throw RecordStoreError(.denied, explanation: "The place belongs to another user.")
            }
        }
        #expect(
            failure?.violations == [
                "Opening and using the store must not fail, but did: The place belongs to another user."
            ]
        )
    }

    /// Checks a store with each flaw, and expects the violation.
    private func expect(_ sentence: String, of check: () async throws -> Void) async {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check() }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test(arguments: Thoroughness.sample(FlawedSharedRecordStore.Flaw.findings, every: 17)) func eachFlawIsFound(
        flaw: FlawedSharedRecordStore.Flaw,
        sentence: String
    ) async throws {
        await expect(sentence) { try await check(flaw) }
    }

    @Test(arguments: FlawedSharedRecordStore.Flaw.timeFindings) func eachFlawOfTimeIsFound(
        flaw: FlawedSharedRecordStore.Flaw,
        sentence: String
    ) async throws {
        await expect(sentence) { try await checkTime(flaw) }
    }

    @Test func everyFlawHasAFinding() {
        let findings = FlawedSharedRecordStore.Flaw.findings + FlawedSharedRecordStore.Flaw.timeFindings
        #expect(Set(findings.map(\.0)) == Set(FlawedSharedRecordStore.Flaw.allCases))
    }
}
