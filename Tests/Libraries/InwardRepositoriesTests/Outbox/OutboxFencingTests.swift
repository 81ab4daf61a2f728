import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

/// Tests that a commit in a shared store checks the owner at the moment at which it changes the records.
@Suite(.timeLimit(.minutes(5)))
struct OutboxFencingTests {
    private let stage = OutboxStage()
    private let base = InMemoryRecordStore()

    /// Returns a store that makes a change before the next commit with changes of a kind, or before each.
    private func store(
        isRepeated: Bool = false,
        changing change: @escaping @Sendable (OutboxRecords) -> RecordChange,
        before kind: @escaping @Sendable (RecordChange, OutboxRecords) -> Bool
    ) -> GatedSharedStore {
        let isChanged = Mutex(false)
        let records = OutboxRecords(prefix: ["outbox"])
        return GatedSharedStore(base) { [base] operation, moment async throws(RecordStoreError) in
            guard moment == .before, case .commit(let changes) = operation,
                changes.contains(where: { kind($0, records) }),
                isChanged.withLock({ isChanged in
                    defer { isChanged = true }
                    return isRepeated || !isChanged
                })
            else { return }
            try await base.commit([change(records)])
        }
    }

    private static func keeps(_ change: RecordChange, under prefix: RecordKey) -> Bool {
        if case .keep(_, let key) = change { prefix.contains(key) } else { false }
    }

    @Test func writeIsNotAcceptedIfAnotherOutboxTakesOverJustBeforeTheCommit() async throws {
        let stage = stage
        let store = store(
            changing: { .keep(StoredRecord([1]), $0.owner) },
            before: { Self.keeps($0, under: $1.entries) }
        )
        let outbox = try stage.outbox(stage.upstream(), store: store)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([OutboxStage.write(["7"])], with: [.keep(StoredRecord([1]), ["draft"])])
            }
            #expect(error?.reason == .closed)
            #expect(try await base.record(for: ["draft"]) == nil)
            #expect(try await base.records(under: outbox.records.entries).isEmpty)
            #expect(stage.handler.events == [] && outbox.pending == [])
            await outbox.close()
        }
        #expect(stage.errors.errors as? [OutboxFencedError] == [OutboxFencedError(prefix: ["outbox"])])
    }

    @Test func nothingIsSentIfAnotherOutboxTakesOverJustBeforeTheNote() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let store = store(
            changing: { .keep(StoredRecord([1]), $0.owner) },
            before: { Self.keeps($0, under: $1.attempts) }
        )
        let outbox = try stage.outbox(upstream, store: store)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            let error = await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            #expect(error?.reason == .closed)
            #expect(try await base.records(under: outbox.records.attempts).isEmpty)
            await outbox.close()
        }
        #expect(upstream.requests.isEmpty)
    }

    private enum Change: CaseIterable { case loss, storingAgain }

    /// A missing record does not prove that there is another owner, and neither does a new version of the same token.
    @Test(.timeLimit(.minutes(1)), arguments: Change.allCases, [false, true])
    private func writeIsAcceptedIfTheRecordOfTheOwnerChangesWithoutAnotherOwner(
        change: Change,
        isRepeated: Bool
    ) async throws {
        let (stage, base) = (stage, base)
        let token = Mutex<StoredRecord?>(nil)
        let store = store(
            isRepeated: isRepeated,
            changing: { records in
                let token = token.withLock(\.self)
                return change == .loss ? .remove(records.owner) : .keep(token ?? StoredRecord([]), records.owner)
            },
            before: { Self.keeps($0, under: $1.entries) }
        )
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream, store: store)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let record = try await base.record(for: outbox.records.owner)
            token.withLock { $0 = record }
            let entries = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["8"])])
            for entry in entries { try await outbox.settlement(of: entry) }
            await outbox.close()
        }
        #expect(upstream.done.count == 2 && stage.errors.errors.isEmpty)
    }

    /// Otherwise, each commit would wait for a read.
    @Test func ownerIsNotReadAgainForEachCommit() async throws {
        let stage = stage
        let reads = Counter()
        let store = GatedSharedStore(base) { operation, moment in
            if operation == .read, moment == .before { reads.add() }
        }
        let outbox = try stage.outbox(stage.upstream(), store: store)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let first = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: first)
            let count = reads.value
            let second = try await outbox.accept([OutboxStage.write(["8"])])[0]
            try await outbox.settlement(of: second)
            // If an entry is no longer pending, a read tells whether it became a dead letter.
            #expect(reads.value - count <= 2)
            await outbox.close()
        }
    }
}
