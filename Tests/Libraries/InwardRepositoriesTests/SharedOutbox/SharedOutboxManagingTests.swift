import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

/// Decisions about writes that are pending and not held.
@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxManagingTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition
    private let overload = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 503))

    private func accept(_ texts: [String], in outbox: SharedOutbox) async throws -> [String] {
        var ids: [String] = []
        for text in texts {
            let entries = try await outbox.accept([SharedOutboxStage.write(["7"], text)], in: partition)
            ids += entries.map(\.idempotencyKey)
        }
        return ids
    }

    @Test(arguments: [[0], [1], [2], [3], [1, 2], [3, 0], [2, 1], [0, 1, 2, 3]])
    func discardedWriteIsNotSent(places: [Int]) async throws {
        let upstream = stage.upstream(overload, overload, overload, overload, overload)
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [self] in
            let ids = try await accept(["0", "1", "2", "3"], in: outbox)
            try await stage.until { outbox.counts.postponed == 5 }
            for place in places { #expect(try await outbox.discard(ids[place], in: partition)) }
            #expect(try await !outbox.discard(ids[places[0]], in: partition))
            let rest = ids.indices.filter { !places.contains($0) }
            #expect(try await outbox.pending(in: partition).map(\.id) == rest.map { ids[$0] })
            _ = try await accept(["4"], in: outbox)
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.done.map(\.text) == [0, 1, 2, 3, 4].filter { !places.contains($0) }.map(String.init))
        #expect(try await stage.store.records(under: ["outbox"]).isEmpty)
    }

    @Test func writeIsNotDiscardedWhileAnEarlierOneIsSent() async throws {
        let upstream = stage.upstream(latency: .seconds(5))
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [self] in
            let ids = try await accept(["0", "1"], in: outbox)
            try await stage.until { !upstream.requests.isEmpty }
            for id in ids {
                let error = await #expect(throws: RecordStoreError.self) { try await outbox.discard(id, in: partition) }
                #expect(error?.reason == .denied)
            }
            // The attempt that is under way is not repeated.
            #expect(try await outbox.resend(ids[0], in: partition))
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.requests.map(\.text) == ["0", "1"])
    }

    // MARK: Decisions at the same time

    /// A store that does something before one of its readings.
    private func store(before number: Int, _ action: @escaping @Sendable () async -> Void) -> GatedSharedStore {
        let readings = Readings()
        return GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            if operation == .read, moment == .before, readings.next() == number { await action() }
        }
    }

    /// The other decision gives the later writes other numbers.
    @Test(arguments: 1...10, [1, 2])
    func twoDecisionsDiscardWhatTheyAreAskedTo(reading: Int, place: Int) async throws {
        let first = try stage.outbox(stage.upstream())
        let ids = try await accept(["0", "1", "2", "3"], in: first)
        let other = store(before: reading) { [partition] in _ = try? await first.discard(ids[place], in: partition) }
        let second = try stage.outbox(stage.upstream(), store: other, keySeed: 2)
        let outcome = await Result { () async throws(RecordStoreError) in
            try await second.discard(ids[2], in: partition)
        }
        if case .failure(let error) = outcome { #expect(error.reason == .conflict) }
        let rest = try await first.pending(in: partition).map(\.id)
        #expect(rest.starts(with: [ids[0]]) && rest.last == ids[3])
        #expect(rest.contains(ids[2]) == (place != 2 && (try? outcome.get()) != true))
    }

    @Test(arguments: 1...10)
    func writeIsFoundWhileAnotherOneIsAccepted(reading: Int) async throws {
        let first = try stage.outbox(stage.upstream())
        let ids = try await accept(["0"], in: first)
        let other = store(before: reading) { [self] in _ = try? await accept(["1"], in: first) }
        let second = try stage.outbox(stage.upstream(), store: other, keySeed: 2)
        let isDiscarded = try await Result { () async throws(RecordStoreError) in
            try await second.discard(ids[0], in: partition)
        }.flatMapError { error in error.reason == .conflict ? .success(true) : .failure(error) }.get()
        #expect(isDiscarded)
    }

    /// A reading finds that the write is gone before the instance that discards it goes on.
    @Test func discardedWriteIsNeitherDeliveredNorDone() async throws {
        let known = Box<OutboxPartition>()
        let gated = GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            guard operation.isSettlement, moment == .after else { return }
            try await known.peek?.showPending()
        }
        let outbox = try stage.outbox(stage.upstream(), store: gated)
        let shown = outbox.partition(partition)
        known.put(shown)
        let entry = try await shown.accept([SharedOutboxStage.write(["7"], "0")])[0]
        #expect(try await shown.discard(entry.idempotencyKey))
        #expect(await shown.outcomes() == OutboxCounts(accepted: 1))
        let error = await #expect(throws: RepositoryError.self) { try await shown.settlement(of: entry) }
        #expect(error?.reason == .refused)
        _ = known.take()
    }

    // MARK: Several subjects in order

    @Test(arguments: [0, 1, 2])
    func writeOfAnySubjectOfAnOrderedPartitionIsDiscarded(place: Int) async throws {
        let upstream = stage.upstream(overload)
        let handler = DecidingHandler(base: stage.handler, terms: OutboxTerms(order: .partition))
        let outbox = try stage.outbox(upstream, handler: handler)
        try await stage.delivering(by: [outbox]) { [self] in
            var ids: [String] = []
            for number in 0..<3 {
                let write = SharedOutboxStage.write(["\(number % 2)"], "\(number)")
                ids += try await outbox.accept([write], in: partition).map(\.idempotencyKey)
            }
            try await stage.until { outbox.counts.postponed == 1 }
            #expect(try await outbox.discard(ids[place], in: partition))
            try await stage.untilDelivered(outbox)
        }
        #expect(upstream.done.map(\.text) == [0, 1, 2].filter { $0 != place }.map(String.init))
    }

    // MARK: Instances that cannot send

    /// An instance of an older version has postponed the write.
    @Test func writeThatAnotherVersionCannotSendIsSentAtOnceIfAsked() async throws {
        let upstream = stage.upstream()
        let new = try stage.outbox(upstream)
        let old = try stage.outbox(upstream, handler: RecordingOutboxHandler("other"), keySeed: 2)
        try await stage.scheduler.run { [self] in
            let id = try await accept(["0"], in: new)[0]
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await old.run() }
                try await stage.until { stage.errors.errors.contains { $0 is UndeliverableEntryError } }
                group.cancelAll()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await new.run() }
                let time = stage.elapsed
                #expect(try await new.resend(id, in: partition))
                try await stage.untilDelivered(new)
                #expect(stage.elapsed - time < .seconds(10))
                group.cancelAll()
            }
        }
    }

    /// An instance dies while it sends.
    @Test(arguments: [true, false])
    func writeOfADeadInstanceIsDecidedWhenItsLeaseIsOver(isResent: Bool) async throws {
        let (upstream, hanging) = (stage.upstream(), stage.upstream(latency: .seconds(100_000)))
        let isDead = Box<Bool>()
        let gated = GatedSharedStore(stage.store) { _, _ async throws(RecordStoreError) in
            if isDead.peek == true { throw RecordStoreError(.unavailable, explanation: "The instance is dead.") }
        }
        let dead = try stage.outbox(hanging, store: gated)
        let outbox = try stage.outbox(upstream, keySeed: 2)
        try await stage.delivering(by: [dead]) { [self] in
            let ids = try await accept(["0", "1"], in: dead)
            try await stage.until { !hanging.requests.isEmpty }
            isDead.put(true)
            await #expect(throws: RecordStoreError.self) { try await outbox.discard(ids[0], in: partition) }
            try await stage.timer.sleep(for: .seconds(31))
            if isResent {
                #expect(try await outbox.resend(ids[0], in: partition))
            } else {
                #expect(try await outbox.discard(ids[0], in: partition))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await outbox.run() }
                try await stage.untilDelivered(outbox)
                group.cancelAll()
            }
        }
        #expect(upstream.done.map(\.text) == (isResent ? ["0", "1"] : ["1"]))
        let keys = (hanging.requests + upstream.requests).filter { $0.text == "0" }.map {
            $0.headerFields[.idempotencyKey]
        }
        #expect(Set(keys).count == 1)
    }

    @Test(arguments: [0, 1])
    func waitingWriteIsSentAtOnceIfAsked(place: Int) async throws {
        let upstream = stage.upstream(overload, overload, overload, overload, overload, overload, .lost)
        let outbox = try stage.outbox(upstream)
        try await stage.delivering(by: [outbox]) { [self] in
            let ids = try await accept(["0", "1"], in: outbox)
            // 1, 2, 4, 8, 16, 32 and 64 seconds.
            try await stage.until { outbox.counts.postponed == 7 }
            let time = stage.elapsed
            #expect(try await outbox.resend(ids[place], in: partition))
            try await stage.untilDelivered(outbox)
            #expect(stage.elapsed - time <= .seconds(1))
        }
        #expect(upstream.done.map(\.text) == ["0", "1"])
        #expect(Set(upstream.requests.dropLast().map { $0.headerFields[.idempotencyKey] }).count == 1)
    }

    @Test func instanceThatOnlyShowsDeliversWhenItIsAskedTo() async throws {
        let upstream = stage.upstream()
        let (writer, reader) = (try stage.outbox(upstream), try stage.outbox(upstream, keySeed: 2))
        try await stage.scheduler.run { [self] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                _ = try await accept(["0"], in: writer)
                group.addTask { await reader.run(.show) }
                let partition = reader.partition(partition)
                try await partition.showPending()
                try await stage.timer.sleep(for: .seconds(600))
                #expect(upstream.requests.isEmpty)
                let entry = try #require(partition.pending.first)
                #expect(try await partition.discard(entry.idempotencyKey))
                _ = try await accept(["1"], in: writer)
                try await stage.timer.sleep(for: .seconds(600))
                #expect(upstream.requests.isEmpty)
                #expect(try await partition.deliver(by: Deadline(in: .seconds(10), on: stage.timer)) == 0)
                group.cancelAll()
            }
        }
        #expect(upstream.done.map(\.text) == ["1"])
    }
}

/// Numbers readings from 1.
private final class Readings: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
