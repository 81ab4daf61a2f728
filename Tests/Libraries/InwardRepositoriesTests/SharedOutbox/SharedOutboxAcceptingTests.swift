import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxAcceptingTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition

    /// Expects that accepting writes fails with a reason, and that nothing is stored.
    private func expectFailure(
        _ reason: RecordStoreError.Reason,
        _ outbox: SharedOutbox,
        _ writes: [OutboxWrite],
        with changes: [RecordChange] = [],
        saying text: String
    ) async throws {
        let before = try await stage.store.records(under: []).map(\.key)
        let error = await #expect(throws: RecordStoreError.self) {
            try await outbox.accept(writes, in: partition, with: changes)
        }
        #expect(error?.reason == reason)
        #expect(error?.explanation.contains(text) == true, "\(String(describing: error))")
        #expect(try await stage.store.records(under: []).map(\.key) == before)
    }

    @Test func writeThatCouldNotBeSentIsNotAccepted() async throws {
        let policy = SharedOutboxPolicy(delivery: OutboxPolicy(maximumWriteBytes: 100))
        let outbox = try stage.outbox(stage.upstream(), policy: policy)
        let valid = SharedOutboxStage.write(["7"])
        try await expectFailure(
            .denied,
            outbox,
            [valid, SharedOutboxStage.write(["7"], String(repeating: "1", count: 100))],
            saying: "100 are allowed"
        )
        try await expectFailure(
            .denied,
            outbox,
            [valid, SharedOutboxStage.write(["7"], endpoint: "others")],
            saying: "no handler"
        )
        let deep = OutboxWrite(endpoint: "posts", subject: ["7"], path: "a/b/c")
        try await expectFailure(.denied, outbox, [valid, deep], saying: "declares")
        let change = RecordChange.remove(["outbox", "heads"])
        try await expectFailure(.denied, outbox, [valid], with: [change], saying: "only the outbox may change")
    }

    @Test func noMoreWritesOfASubjectAreAcceptedThanThePolicyAllows() async throws {
        let outbox = try stage.outbox(stage.upstream(), policy: SharedOutboxPolicy(maximumPending: 2))
        try await outbox.accept([SharedOutboxStage.write(["7"])], in: partition)
        let writes = [SharedOutboxStage.write(["7"]), SharedOutboxStage.write(["7"])]
        try await expectFailure(.full, outbox, writes, saying: "2 writes of 7 are pending")
        try await outbox.accept([writes[0], SharedOutboxStage.write(["8"])], in: partition)
        try await outbox.accept([writes[0]], in: "users/2")
    }

    @Test func writesThatAreAcceptedAtTheSameTimeAreAllNumbered() async throws {
        let outboxes = try (1...4).map { try stage.outbox(stage.upstream(), keySeed: $0) }
        try await stage.scheduler.run { [partition] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for outbox in outboxes {
                    group.addTask {
                        for _ in 1...5 {
                            let writes = [SharedOutboxStage.write(["7"]), SharedOutboxStage.write(["8"])]
                            try await outbox.accept(writes, in: partition)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let items = try await outboxes[0].pending(in: partition)
        #expect(items.count == 40 && Set(items.map(\.id)).count == 40)
        let entries = try await outboxes[0].pendingEntries(
            of: OutboxLane(of: SharedOutboxStage.write(["8"]), in: partition, OutboxTerms())
        )
        #expect(entries.map(\.sequence) == Array(1...20))
    }

    @Test func tasksOfAnInstanceThatAcceptWritesOfASubjectDoNotLetEachOtherRepeatCommits() async throws {
        let commits = Counter()
        let store = GatedSharedStore(stage.store) { [timer = stage.timer] operation, moment throws(RecordStoreError) in
            guard case .commit = operation, moment == .before else { return }
            commits.add()
            // Long enough for the other tasks to read the head.
            try? await timer.sleep(for: .milliseconds(10))
        }
        let outbox = try stage.outbox(stage.upstream(), store: store)
        try await stage.scheduler.run { [partition] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask {
                        try await outbox.accept([SharedOutboxStage.write(["7"], "\(number)")], in: partition)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(commits.value == 20)
        #expect(try await outbox.pending(in: partition).count == 20)
    }

    @Test func writeThatFollowsAnotherOneIsForTheVersionThatResultsFromIt() async throws {
        let outbox = try stage.outbox(stage.upstream())
        let write = OutboxWrite(
            endpoint: "posts",
            subject: ["7"],
            method: .put,
            path: "7",
            version: .entityTag("\"a\"")
        )
        let first = try await outbox.accept([write, write], in: partition)
        let second = try await outbox.accept([write], in: partition)
        #expect((first + second).map(\.write.version) == [.entityTag("\"a\""), .previousWrite, .previousWrite])
    }

    @Test(arguments: [
        "12", #"{"version":1,"first":1,"next":0}"#, #"{"version":1,"first":-1,"next":2}"#,
        #"{"version":1,"first":1,"next":2305843009213693952}"#, #"{"version":1,"first":2,"next":2}"#,
    ])
    func damagedHeadIsReportedAndChangesNothing(head: String) async throws {
        try await stage.store.commit([.keep(StoredRecord(Array(head.utf8)), ["outbox", "heads", partition, "7"])])
        let outbox = try stage.outbox(stage.upstream())
        try await expectFailure(
            .unavailable,
            outbox,
            [SharedOutboxStage.write(["7"])],
            saying: "the head of its subject"
        )
        try await stage.delivering(by: [outbox]) { [stage] in
            try await stage.until { !stage.errors.errors.isEmpty }
        }
        #expect(stage.errors.errors.first is UndeliverableEntryError)
    }
}
