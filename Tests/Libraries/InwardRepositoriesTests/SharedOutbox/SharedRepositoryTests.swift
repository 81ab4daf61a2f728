import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Repositories of one user on two instances of a service, which write through a shared outbox.
@Suite(.timeLimit(.minutes(5)))
struct SharedRepositoryTests: SharedRepositorySuite {
    let stage = SharedOutboxStage()
    let source = VersionedSource()

    // MARK: Pending

    @Test func updateIsPendingOnEveryInstanceUntilItIsDelivered() async throws {
        try await run { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            source.goOffline()
            let reading = try await first.remarks.update(2) { $0.text = "new" }
            #expect(reading.isPending && reading.value.text == "new")
            try await stage.until { try await second.remarks.entity(2).isPending }
            #expect(try await text(2, second) == "new")
            #expect(source.remark(2)?.text == "2")
            source.goOffline(false)
            try await first.partition.settlement(of: #require(first.partition.pending.first))
            for instance in [first, second] {
                try await stage.until { try await !instance.remarks.entity(2).isPending }
                #expect(try await text(2, instance) == "new")
                #expect(instance.partition.pending.isEmpty)
            }
            #expect(source.writes == [#"PATCH 2 "v1""#])
        }
    }

    @Test func instancesReadDeliveredEntitiesFromTheStore() async throws {
        try await run { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            let readCount = source.requests.count { $0.method == .get }
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { try await text(2, second) == "new" && second.partition.pending.isEmpty }
            await second.remarks.flush()
            #expect(try await text(2, second) == "new")
            #expect(source.requests.count { $0.method == .get } == readCount)
        }
    }

    @Test func creationHasTheSameIdentifierOnEveryInstanceUntilItIsDelivered() async throws {
        try await run { [self] first, second in
            source.goOffline()
            var ids: [Int] = []
            for text in ["a", "b"] {
                let draft = RemarkDTO(Remark(id: 0, author: 7, text: text))
                ids.append(try await first.remarks.create(draft).value.id)
            }
            #expect(Set(ids).count == 2)
            try await stage.until { second.partition.pending.count == 2 }
            #expect(try await ids.asyncMap { try await text($0, second) } == ["a", "b"])
            try await second.remarks.update(ids[0]) { $0.text = "c" }
            source.goOffline(false)
            try await stage.until { source.remarks.map(\.text).suffix(2).sorted() == ["b", "c"] }
            for instance in [first, second] {
                try await stage.until { try await instance.remarks.entities().value.count == 5 }
                #expect(try await instance.remarks.entities().value.suffix(2).map(\.text).sorted() == ["b", "c"])
            }
        }
    }

    @Test func refusedUpdateIsUndoneOnEveryInstance() async throws {
        try await run { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            source.meet(.refused(422))
            try await second.remarks.update(2) { $0.text = "new" }
            let entry = try #require(second.partition.pending.first)
            let error = await #expect(throws: RepositoryError.self) {
                try await second.partition.settlement(of: entry)
            }
            #expect(error?.reason == .refused)
            for instance in [first, second] {
                try await stage.until { try await !instance.remarks.entity(2).isPending }
                #expect(try await text(2, instance) == "2")
            }
            let letters = try await first.partition.contents().deadLetters
            #expect(letters.map(\.id) == [entry.idempotencyKey])
        }
    }

    @Test func sessionShowsWhatWasAcceptedBefore() async throws {
        try await run(joining: [0]) { [self] first, second in
            source.goOffline()
            let id = try await first.remarks.create(RemarkDTO(Remark(id: 0, author: 7, text: "a"))).value.id
            try await first.remarks.update(id) { $0.text = "b" }
            try await join(second)
            let reading = try await second.remarks.entity(id)
            #expect(reading.isPending && reading.value.text == "b")
        }
    }

    @Test func sessionThatHasLeftIsNotTold() async throws {
        try await run(running: [], joining: []) { first, _ in
            let member = try await first.partition.join(handlers: [first.remarks.handler])
            first.partition.leave(member)
            try await first.remarks.update(2) { $0.text = "new" }
            #expect(try await !first.remarks.entity(2).isPending)
            #expect(first.partition.handlers(of: first.partition.pending[0].write).handlers.isEmpty)
        }
    }

    @Test func twoHandlersOfAnEndpointAreRefused() async throws {
        try await run(running: [], joining: []) { first, _ in
            let error = await #expect(throws: RecordStoreError.self) {
                try await first.partition.join(handlers: [first.remarks.handler, first.remarks.handler])
            }
            #expect(error?.reason == .denied)
        }
    }

    @Test func instanceWithoutSessionDelivers() async throws {
        try await run(running: [1], joining: [0]) { [self] first, second in
            _ = try await first.remarks.entity(2)
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { try await second.partition.contents().pending.isEmpty }
            #expect(source.remark(2)?.text == "new")
            #expect(second.outbox.counts.delivered == 1)
            // The first instance does not follow the second one, but finds out when somebody asks.
            #expect(try await first.remarks.entity(2).isPending)
            let entry = try #require(first.partition.pending.first)
            try await first.partition.showPending()
            try await first.partition.settlement(of: entry)
            let reading = try await first.remarks.entity(2)
            #expect(!reading.isPending && reading.value.text == "new")
        }
    }

    @Test func outcomesIncludeThoseOnOtherInstances() async throws {
        try await run(running: [1], joining: [0]) { [self] first, second in
            for id in [2, 3] { _ = try await first.remarks.entity(id) }
            source.put(Remark(id: 3, author: 7, text: "theirs"))
            for id in [2, 3] { try await first.remarks.update(id) { $0.text = "new" } }
            try await stage.until { try await first.partition.contents().pending.isEmpty }
            let outcomes = await first.partition.outcomes()
            #expect(outcomes == OutboxCounts(accepted: 2, delivered: 1, refused: 1))
            // Neither is counted twice, or on an instance without a session.
            #expect(await first.partition.outcomes() == outcomes)
            #expect(await second.partition.outcomes() == OutboxCounts(delivered: 1, refused: 1))
        }
    }

    // MARK: Joining

    @Test func sessionThatCouldNotReadTheOutboxReadsItWithItsNextWrite() async throws {
        let isDown = Box<Bool>()
        let gated = GatedSharedStore(stage.store) { operation, _ async throws(RecordStoreError) in
            guard operation == .read, isDown.peek == true else { return }
            throw RecordStoreError(.unavailable, explanation: "The server is down.")
        }
        try await run(running: [], joining: [1], Editing(.put), over: gated) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await second.remarks.update(2) { $0.text = "new" }
            isDown.put(true)
            await #expect(throws: RecordStoreError.self) { try await join(first) }
            await #expect(throws: WriteError<Remark>.self) { try await first.remarks.update(2) { $0.author = 8 } }
            isDown.put(false)
            let updated = try await first.remarks.update(2) { $0.author = 8 }
            #expect(updated.value == Remark(id: 2, author: 8, text: "new"))
        }
    }

    @Test func outdatedPartitionIsReadAgainLater() async throws {
        let isDown = Box<Bool>()
        let gated = GatedSharedStore(stage.store) { operation, _ async throws(RecordStoreError) in
            guard operation == .read, isDown.peek == true else { return }
            throw RecordStoreError(.unavailable, explanation: "The server is down.")
        }
        try await run(running: [0], over: gated) { [self] first, second in
            _ = try await second.remarks.entity(2)
            source.goOffline()
            _ = try await second.remarks.update(2) { $0.text = "new" }
            isDown.put(true)
            try await stage.timer.sleep(for: .seconds(10))
            isDown.put(false)
            try await stage.until { !first.partition.pending.isEmpty }
        }
    }

    /// A session joins between the settlement and its commit.
    @Test func sessionThatJoinsDuringASettlementShowsItsOutcome() async throws {
        let joining = Box<@Sendable () async throws -> Void>()
        let gated = GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            guard case .commit(let changes) = operation, moment == .before,
                changes.contains(where: {
                    if case .remove(let key) = $0 { key.components[1] == "pending" } else { false }
                }),
                let join = joining.take()
            else { return }
            try? await join()
        }
        try await run(running: [0], joining: [0], over: gated) { [self] first, _ in
            let late = try Repository.versioned(
                source,
                Editing(.patch),
                store: place(first.peers),
                outbox: first.partition,
                timer: stage.timer
            )
            joining.put {
                _ = try await first.partition.join(handlers: [late.handler])
                #expect(try await late.entity(2).isPending)
            }
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { first.partition.pending.isEmpty }
            #expect(joining.peek == nil)
            let reading = try await late.entity(2)
            #expect(!reading.isPending && reading.value.text == "new")
        }
    }

    // MARK: Units of work

    @Test func unitOfWorkAcceptsWritesOfSeveralRepositories() async throws {
        try await run(running: []) { first, second in
            let unit = RecordUnitOfWork(outbox: first.partition)
            let changes = [
                try await first.remarks.prepareUpdate(of: 2, "the update") { $0.text = "new" },
                try await first.remarks.prepareDeletion(of: 3, "the deletion"),
            ]
            let entries = try await unit.entries(committing: changes.compactMap(\.self))
            #expect(entries.count == 2 && first.partition.pending == entries)
            #expect(try await first.remarks.entities().value.map(\.text) == ["1", "new"])
            let foreign = try #require(try await second.remarks.prepareDeletion(of: 1, "the deletion"))
            let error = await #expect(throws: UnitOfWorkError.self) { try await unit.commit([foreign]) }
            #expect(error?.reason == .foreign)
        }
    }

    // MARK: Outcomes

    @Test func settlementOfAnEntryThatEndedBeforeIsKnown() async throws {
        try await run(joining: [0]) { [self] first, second in
            source.meet(.answered, .refused(422))
            try await first.remarks.update(2) { $0.text = "new" }
            try await first.remarks.update(3) { $0.text = "new" }
            let entries = first.partition.pending
            try await stage.until { first.partition.pending.isEmpty }
            // The writes have different subjects, so either of them may have been refused.
            let letter = try #require(try await second.partition.contents().deadLetters.first)
            for entry in entries {
                let outcome = await Result { () async throws(RepositoryError) in
                    try await second.partition.settlement(of: entry)
                }
                #expect(((try? outcome.get()) == nil) == (entry.idempotencyKey == letter.id))
            }
        }
    }

    @Test func waitForASettlementEndsWithItsDeadline() async throws {
        try await run(running: []) { [self] first, _ in
            try await first.remarks.update(2) { $0.text = "new" }
            let entry = try #require(first.partition.pending.first)
            let error = await #expect(throws: RepositoryError.self) {
                try await Deadline(in: .seconds(1), on: stage.timer).carried { () async throws(RepositoryError) in
                    try await first.partition.settlement(of: entry)
                }.get()
            }
            #expect(error?.reason == .unavailable)
        }
    }

    @Test func discardedWriteIsUndoneAndCountsAsRefused() async throws {
        try await run { [self] first, second in
            source.meet(.refused(503))
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await first.remarks.update(2) { $0.text = "new" }
            let entry = try #require(first.partition.pending.first)
            // Somebody has held it.
            let lane = OutboxLane(of: entry.write, in: SharedOutboxStage.partition, OutboxTerms())
            let note = AttemptNote(attempts: 1, mayHaveArrived: false, isHeld: true)
            let key = first.outbox.records.note(entry.sequence, of: lane)
            try await stage.until { try await stage.store.record(for: key) != nil }
            try await stage.store.commit([.keep(StoredRecord(note.bytes), key)])
            #expect(try await first.partition.discard(entry.idempotencyKey))
            #expect(first.partition.pending.isEmpty)
            #expect(try await text(2, first) == "2")
            await #expect(throws: RepositoryError.self) { try await first.partition.settlement(of: entry) }
            try await stage.until { second.partition.pending.isEmpty }
        }
    }

    /// The store commits the settlement, but does not say so, and does not answer until the lease has run out.
    @Test func entryWithAnUncertainSettlementIsShownUntilTheStoreAnswers() async throws {
        let (isDown, reader) = (Box<Bool>(), Box<OutboxPartition>())
        let gated = GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            if case .commit(let changes) = operation, moment == .after,
                changes.contains(where: {
                    if case .remove(let key) = $0 { key.components[1] == "pending" } else { false }
                })
            {
                isDown.put(true)
            }
            guard isDown.peek == true else { return }
            let isCommit = if case .commit = operation { true } else { false }
            throw RecordStoreError(isCommit ? .outcomeUnknown : .unavailable, explanation: "The server is down.")
        }
        try await run(running: [0], over: gated) { [self] first, _ in
            reader.put(first.partition)
            _ = try await first.remarks.entity(2)
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { isDown.peek == true }
            try await stage.timer.sleep(for: .seconds(60))
            #expect(try await first.remarks.entity(2).isPending)
            isDown.put(false)
            try await stage.until { first.partition.pending.isEmpty }
            let reading = try await first.remarks.entity(2)
            #expect(!reading.isPending && reading.value.text == "new")
        }
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
