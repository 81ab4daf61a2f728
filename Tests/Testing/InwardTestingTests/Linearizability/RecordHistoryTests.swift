import InwardRepositories
import InwardTesting
import Testing

struct RecordHistoryTests {
    private typealias Operation = RecordHistory.Operation
    private typealias Reading = RecordHistory.Reading

    /// Returns a history of one line per client: the operations with the places of their beginning and end.
    private func history(_ clients: [(Operation, Int, Int?)]...) -> RecordHistory {
        RecordHistory(
            clients.enumerated().flatMap { client, operations in
                operations.map { RecordHistory.Entry(client: client, $0.0, from: $0.1, to: $0.2) }
            }
        )
    }

    @Test func emptyHistoryIsLinearizable() {
        #expect(RecordHistory([]).isLinearizable)
        #expect(RecordHistory([]).shortestViolation == nil)
    }

    @Test func readDuringAKeepFindsEitherRecord() {
        let first = Reading(1, version: 5)
        for reading in [first, Reading(2, version: 6)] {
            let history = history(
                [(.keep(1), 1, 2), (.keep(2, if: .hasVersion(5)), 5, 8)],
                [(.read(first), 3, 4), (.read(reading), 6, 7)]
            )
            #expect(history.isLinearizable)
        }
    }

    @Test func staleReadIsFound() {
        let history = history(
            [(.keep(1), 1, 2), (.keep(2), 3, 4), (.read(Reading(2, version: 6)), 9, 10)],
            [(.read(Reading(1, version: 5)), 5, 6), (.read(Reading(2, version: 6)), 7, 8)]
        )
        #expect(history.shortestViolation == history.prefix(of: 3))
    }

    /// The first read shows that the keep has taken effect, although it has not ended.
    @Test func readsThatGoBackAreFound() {
        let history = history(
            [(.keep(1), 1, 2), (.keep(2), 3, 10)],
            [(.read(Reading(2, version: 6)), 4, 5), (.read(Reading(1, version: 5)), 6, 7)]
        )
        #expect(history.shortestViolation?.entries.last?.response == 7)
        #expect(history.shortestViolation?.entries[1].response == nil)
    }

    @Test func lostUpdateIsFound() {
        let reading = Operation.read(Reading(1, version: 5))
        func history(secondIsMade: Bool) -> RecordHistory {
            self.history(
                [(.keep(1), 1, 2), (reading, 3, 5), (.keep(2, if: .hasVersion(5)), 7, 9)],
                [(reading, 4, 6), (.keep(3, if: .hasVersion(5), isMade: secondIsMade), 8, 10)]
            )
        }
        #expect(history(secondIsMade: false).isLinearizable)
        #expect(!history(secondIsMade: true).isLinearizable)
    }

    @Test func recordIsCreatedOnce() {
        func history(secondIsMade: Bool) -> RecordHistory {
            self.history(
                [(.keep(1, if: .isAbsent), 1, 3)],
                [(.keep(2, if: .isAbsent, isMade: secondIsMade), 2, 4)]
            )
        }
        #expect(history(secondIsMade: false).isLinearizable)
        #expect(!history(secondIsMade: true).isLinearizable)
    }

    @Test func failedKeepThatTookEffectIsFound() {
        let history = history(
            [(.keep(1), 1, 2), (.keep(2, if: .isAbsent, isMade: false), 3, 4), (.read(Reading(2, version: 6)), 5, 6)]
        )
        #expect(history.shortestViolation == history)
    }

    @Test func failedKeepWhoseConditionIsMetIsFound() {
        let reading = Operation.read(Reading(1, version: 5))
        let failure = Operation.keep(2, if: .hasVersion(5), isMade: false)
        #expect(!history([(.keep(1), 1, 2), (reading, 3, 4), (failure, 5, 6)]).isLinearizable)
    }

    @Test func removedRecordIsNotReadAgain() {
        let (reading, nothing) = (Operation.read(Reading(1, version: 5)), Operation.read(nil))
        #expect(history([(.keep(1), 1, 2), (.remove, 3, 6)], [(reading, 4, 5), (nothing, 7, 8)]).isLinearizable)
        #expect(!history([(.keep(1), 1, 2), (.remove, 3, 8)], [(nothing, 4, 5), (reading, 6, 7)]).isLinearizable)
    }

    @Test func versionsThatDoNotGrowAreFound() {
        for version: UInt64 in [4, 5] {
            let reading = Operation.read(Reading(2, version: version))
            let history = history(
                [(.keep(1), 1, 2), (.read(Reading(1, version: 5)), 3, 4), (.keep(2), 5, 6), (reading, 7, 8)]
            )
            #expect(history.shortestViolation == history)
        }
    }

    @Test func recordHasOneVersion() {
        let (one, another) = (Operation.read(Reading(1, version: 5)), Operation.read(Reading(1, version: 6)))
        #expect(!history([(.keep(1), 1, 2), (one, 3, 4), (another, 5, 6)]).isLinearizable)
    }

    @Test func twoHoldersOfOneLeaseAreFound() {
        let reading = Reading(1, version: 5)
        let history = history(
            [(.keep(1), 1, 2), (.lease(.hour, token: 7, reading), 3, 5)],
            [(.lease(.hour, token: 8, reading), 4, 6)]
        )
        #expect(history.shortestViolation == history)
    }

    @Test func leaseEndsIfItIsExtendedByNothing() {
        let reading = Reading(1, version: 5)
        let history = history(
            [(.keep(1), 1, 2), (.lease(.hour, token: 7, reading), 3, 4), (.extend(token: 7, .zero), 5, 7)],
            [(.lease(.hour, token: 8, reading), 6, 8)]
        )
        #expect(history.isLinearizable)
    }

    @Test func fencedLeaseIsNotExtendedAndCommitsNothing() {
        let reading = Reading(1, version: 5)
        for isFenced in [true, false] {
            for operation: Operation in [
                .extend(token: 7, .hour, isExtended: !isFenced), .keep(2, if: .isLeased(token: 7), isMade: !isFenced),
            ] {
                let history = history(
                    [(.keep(1), 1, 2), (.lease(.zero, token: 7, reading), 3, 4), (operation, 7, 8)],
                    [(.lease(.zero, token: 8, reading), 5, 6)]
                )
                #expect(history.isLinearizable == isFenced)
            }
        }
    }

    @Test func leaseSurvivesAKeepAndEndsWithARemoval() {
        let reading = Reading(1, version: 5)
        for (change, isExtended): (Operation, Bool) in [(.keep(2), true), (.remove, false)] {
            for result in [true, false] {
                let history = history(
                    [
                        (.keep(1), 1, 2), (.lease(.hour, token: 7, reading), 3, 4), (change, 5, 6), (.keep(3), 7, 8),
                        (.extend(token: 7, .hour, isExtended: result), 9, 10),
                    ]
                )
                #expect(history.isLinearizable == (result == isExtended))
            }
        }
    }

    @Test func tokensGrow() {
        let reading = Reading(1, version: 5)
        let history = history(
            [(.keep(1), 1, 2), (.lease(.zero, token: 7, reading), 3, 4), (.lease(.zero, token: 7, reading), 5, 6)]
        )
        #expect(history.shortestViolation == history)
    }

    @Test func leaseFindsNothingOnlyBesideAnotherLease() {
        let lease = Operation.lease(.zero, token: 7, Reading(1, version: 5))
        #expect(history([(.keep(1), 1, 2), (lease, 3, 5)], [(.leaseNothing, 4, 6)]).isLinearizable)
        #expect(!history([(.keep(1), 1, 2), (lease, 3, 4)], [(.leaseNothing, 5, 6)]).isLinearizable)
        #expect(history([(.leaseNothing, 1, 2), (.keep(1), 3, 4)]).isLinearizable)
    }

    @Test func operationThatHasNotEndedMayHaveTakenEffect() {
        let reading = Operation.read(Reading(1, version: 5))
        #expect(history([(.keep(1), 1, nil)], [(reading, 2, 3)]).isLinearizable)
        #expect(history([(.keep(1), 1, nil)], [(.read(nil), 2, 3)]).isLinearizable)
        #expect(!history([(.keep(1), 1, nil)], [(reading, 2, 3), (.read(nil), 4, 5)]).isLinearizable)
    }

    @Test func longHistoriesAreSearchedQuickly() {
        // Each client overlaps all others all the time, so only memoization keeps the search short.
        let clients = 4
        let entries = (0..<clients).flatMap { client in
            (0..<12).map { step in
                let operation: Operation = step % 2 == 0 ? .keep(client * 100 + step) : .leaseNothing
                let place = step * 2 * clients + client
                return RecordHistory.Entry(client: client, operation, from: place, to: place + 2 * clients - 1)
            }
        }
        let impossible = RecordHistory.Entry(client: 0, .read(nil), from: 1_000, to: 1_001)
        #expect(!RecordHistory(entries + [impossible]).isLinearizable)
    }

    @Test func recorderOrdersOverlappingOperations() async throws {
        let recorder = RecordHistoryRecorder()
        let (began, ended) = (Rendezvous(of: 2), Rendezvous(of: 2))
        async let other: Void = recorder.record(by: 1) { () async throws(RecordStoreError) in
            await began.arrive()
            await ended.arrive()
            return .read(nil)
        }
        await began.arrive()
        try await recorder.record(by: 0) { .keep(1) }
        await ended.arrive()
        try await other
        let keep = RecordHistory.Entry(client: 0, .keep(1), from: 2, to: 3)
        let read = RecordHistory.Entry(client: 1, .read(nil), from: 1, to: 4)
        #expect(recorder.history == RecordHistory([read, keep]))
        #expect(recorder.history.description == "client 1 reads nothing (1 to 4), client 0 keeps 1 (2 to 3)")
    }

    @Test func failedOperationIsNotRecorded() async {
        let recorder = RecordHistoryRecorder()
        await #expect(throws: RecordStoreError.self) {
            try await recorder.record(by: 0) { () async throws(RecordStoreError) in
                throw RecordStoreError(.unavailable, explanation: "The store is unavailable.")
            }
        }
        #expect(recorder.history.entries.isEmpty)
    }
}

extension RecordHistory {
    /// Returns the first operations.
    fileprivate func prefix(of count: Int) -> RecordHistory { RecordHistory(Array(entries.prefix(count))) }
}
