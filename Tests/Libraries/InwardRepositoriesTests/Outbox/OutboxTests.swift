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

@Suite(.timeLimit(.minutes(5)))
struct OutboxTests {
    private let stage = OutboxStage()

    @Test func acceptedWriteIsDurableBeforeHandlersAreNotified() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try await outbox.accept(
                [OutboxStage.write(["7"], "{}")],
                with: [.keep(StoredRecord([1]), ["draft"])]
            )
            let entry = try #require(entries.first)
            #expect(entry.sequence == 0)
            #expect(entry.attempts == 0)
            #expect(entry.acceptedAt == OutboxStage.time)
            #expect(stage.handler.events.first == .accepted(entry))
            // Both writes share one commit, which follows the one that writes the owner's token.
            let commit = try #require(stage.store.commits.dropFirst().first)
            #expect(commit.count == 2)
            #expect(commit.first == .keep(StoredRecord([1]), ["draft"]))
            try await outbox.settlement(of: entry)
            #expect(outbox.pending == [])
            #expect(try await stage.store.records(under: outbox.records.entries).isEmpty)
            #expect(try await stage.values() == [["7"]: "{}"])
            await outbox.close()
        }
        let request = try #require(upstream.requests.first)
        #expect(upstream.requests.count == 1)
        #expect(request.method == .post)
        #expect(request.url.absoluteString == "http://upstream.test/api/7")
        #expect(request.headerFields[.contentType] == "application/json; charset=utf-8")
        #expect(request.headerFields[.accept] == "application/json")
        #expect(request.headerFields[.idempotencyKey]?.utf8.count == 32)
        #expect(request.isIdempotent)
        #expect(request.text == "{}")
        #expect(stage.errors.errors.isEmpty)
        #expect(outbox.counts == OutboxCounts(accepted: 1, attempts: 1, delivered: 1))
        #expect(stage.timer.count == 0)
    }

    @Test func deliveredWriteIsSettledAndRemovedInOneCommit() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
            let end = try #require(stage.store.commits.last)
            #expect(end.first == .keep(StoredRecord([UInt8(ascii: "1")]), ["values", "7"]))
            // Nothing else is changed, such as the record of a pause that does not exist.
            let name = OutboxEntryName(entry)
            let keys = [outbox.records.entries, outbox.records.attempts].map { name.key(under: $0) }
            #expect(end.dropFirst() == [.remove(keys[0]), .remove(keys[1])])
            #expect(stage.handler.events == [.accepted(entry), .delivered(entry, later: 0), .committed(entry)])
        }
    }

    /// The response to a patch is a record.
    @Test(arguments: [
        ("application/json", "application/json"), ("application/x-plist", "application/x-plist"),
        ("application/merge-patch+json", "application/json"),
    ])
    func acceptHeaderNamesTheFormatOfTheRecord(contentType: String, accepted: String) throws {
        let write = OutboxWrite(
            endpoint: "posts",
            subject: ["7"],
            method: .put,
            path: "posts/7",
            body: [],
            contentType: contentType
        )
        let entry = OutboxEntry(
            sequence: 1,
            write: write,
            idempotencyKey: "k",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
        let request = try stage.outbox(stage.upstream()).request(for: entry)
        #expect(request.headerFields[.accept] == accepted)
    }

    @Test func nothingIsAcceptedIfTheStoreFails() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream)
        let failure = RecordStoreError(.full, explanation: "There is no room.")
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            stage.store.fail(with: failure)
            await #expect(throws: failure) { try await outbox.accept([OutboxStage.write(["7"])]) }
            stage.store.fail(with: nil)
            #expect(outbox.pending == [])
            #expect(stage.handler.events == [])
            let entry = try await outbox.accept([OutboxStage.write(["8"])])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.requests.map(\.url.lastPathComponent) == ["8"])
    }

    @Test func writeWithoutAHandlerIsNotAccepted() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([OutboxStage.write(["1"]), OutboxStage.write(["7"], endpoint: "notes")])
            }
            #expect(error?.reason == .denied)
            #expect(error?.explanation.contains("“notes”") == true)
            #expect(stage.store.commits.count == 1)
            await outbox.close()
        }
    }

    @Test(arguments: [
        RecordChange.remove(["outbox", "entries"]), .removeAll(["outbox", "owner"]), .removeAll(["outbox"]),
        .removeAll([]), .keep(StoredRecord([]), ["outbox", "more"]),
    ])
    func changesOfTheOutboxRecordsAreDenied(change: RecordChange) async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) { try await outbox.accept([], with: [change]) }
            #expect(error?.reason == .denied)
            try await outbox.accept([], with: [.removeAll(["outbo"]), .remove(["outboxes"])])
            #expect(stage.store.commits.count == 2)
            await outbox.close()
        }
    }

    @Test func firstOfSeveralDeniedChangesIsNamed() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let changes = [RecordChange.remove(["draft"]), .remove(["outbox", "1"]), .remove(["outbox", "2"])]
            let error = await #expect(throws: RecordStoreError.self) { try await outbox.accept([], with: changes) }
            let explanation = "affects the records of the outbox, which only the outbox may change."
            #expect(error?.explanation == "The change \(changes[1]) \(explanation)")
            await outbox.close()
        }
    }

    @Test func nothingIsAcceptedBeforeOpeningOrAfterClosing() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            let before = await #expect(throws: RecordStoreError.self) { try await outbox.accept([]) }
            #expect(before?.reason == .closed)
            try await outbox.open(handlers: [stage.handler])
            let again = await #expect(throws: RecordStoreError.self) { try await outbox.open(handlers: []) }
            #expect(again?.reason == .denied)
            await outbox.close()
            let after = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([OutboxStage.write(["7"])])
            }
            #expect(after?.reason == .closed)
            let reopened = await #expect(throws: RecordStoreError.self) { try await outbox.open(handlers: []) }
            #expect(reopened?.reason == .closed)
        }
    }

    @Test func twoHandlersOfOneEndpointAreDenied() async throws {
        let outbox = try stage.outbox(stage.upstream())
        let error = await #expect(throws: RecordStoreError.self) {
            try await outbox.open(handlers: [stage.handler, RecordingOutboxHandler("posts")])
        }
        #expect(error?.reason == .denied)
        #expect(stage.store.commits == [])
    }

    @Test func writesOfOneSubjectAreDeliveredInOrderOneAtATime() async throws {
        let stage = stage
        let busy = Mutex<(now: Set<String>, most: Int, overlaps: Int)>(([], 0, 0))
        let upstream = stage.upstream()
        let watched = StubDataFetcher { request throws(FetchError) in
            let subject = request.url.lastPathComponent
            busy.withLock { busy in
                if !busy.now.insert(subject).inserted { busy.overlaps += 1 }
                busy.most = max(busy.most, busy.now.count)
            }
            defer { _ = busy.withLock { $0.now.remove(subject) } }
            try? await stage.timer.sleep(for: .milliseconds(10))
            return try await upstream.fetch(request)
        }
        let outbox = try stage.outbox(watched, policy: OutboxPolicy(concurrency: 3))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let writes = (0..<5).flatMap { round in
                (0..<8).map { OutboxStage.write(["s\($0)"], "\(round)") }
            }
            for entry in try await outbox.accept(writes) { try await outbox.settlement(of: entry) }
            await outbox.close()
        }
        let (_, most, overlaps) = busy.withLock(\.self)
        #expect(overlaps == 0)
        #expect(most == 3)
        for subject in (0..<8).map({ "s\($0)" }) {
            let texts = upstream.done.filter { $0.url.lastPathComponent == subject }.map(\.text)
            #expect(texts == ["0", "1", "2", "3", "4"], "\(stage.scheduler)")
        }
    }

    @Test func handlerReceivesTheLaterEntriesOfTheSubject() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let writes = ["1", "2", "3"].map { OutboxStage.write(["7"], $0) } + [OutboxStage.write(["8"])]
            for entry in try await outbox.accept(writes) { try await outbox.settlement(of: entry) }
            await outbox.close()
            let later = stage.handler.events.compactMap { event in
                if case .delivered(let entry, let later) = event, entry.write.subject == ["7"] { later } else { nil }
            }
            #expect(later == [2, 1, 0])
        }
    }

    @Test func unusableResponseIsReportedAndTheWriteIsDone() async throws {
        let stage = stage
        let handler = RecordingOutboxHandler { $0.body.isEmpty ? "is empty" : nil }
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
            #expect(stage.errors.errors as? [UnusableAnswerError] == [UnusableAnswerError(entry, problem: "is empty")])
            #expect(outbox.counts.delivered == 1)
            #expect(outbox.counts.attempts == 1)
        }
    }

    @Test func firstOfSeveralProblemsWithAResponseIsReported() async throws {
        let stage = stage
        let handlers = ["is empty", "is short"].map { problem in RecordingOutboxHandler { _ in problem } }
        let outbox = try stage.outbox(stage.upstream())
        try await stage.scheduler.run {
            try await outbox.open(handlers: [handlers[0]])
            let member = try await outbox.join(handlers: [handlers[1]])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            outbox.leave(member)
            await outbox.close()
            #expect(stage.errors.errors as? [UnusableAnswerError] == [UnusableAnswerError(entry, problem: "is empty")])
        }
    }

    @Test func waitForSettlementEndsAtCancellationAndAtTheDeadline() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(latency: .seconds(30)))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            let late = await Deadline(in: .seconds(1), on: stage.timer).bound { () async throws(RepositoryError) in
                try await outbox.settlement(of: entry)
            }
            // At the deadline, bound work is cancelled.
            #expect(late == nil)
            #expect(stage.elapsed == .seconds(1))
            let ending = await withTaskGroup(of: RepositoryError?.self) { group in
                group.addTask {
                    do throws(RepositoryError) { try await outbox.settlement(of: entry) } catch { return error }
                    return nil
                }
                group.addTask {
                    try? await stage.timer.sleep(for: .seconds(1))
                    return nil
                }
                _ = await group.next()
                group.cancelAll()
                return await group.next() ?? nil
            }
            #expect(ending?.reason == .cancelled)
            #expect(outbox.pending == [entry])
            let waiters = outbox.state.withLock(\.endWaiters.count)
            #expect(waiters == 0)
            try await outbox.settlement(of: entry)
            #expect(stage.elapsed == .seconds(30))
            await outbox.close()
        }
    }

    /// Accepts a write in a task that is cancelled half a second after the commit begins.
    private func acceptanceCancelledDuringTheCommit(_ outbox: Outbox) async -> Result<[OutboxEntry], RecordStoreError>?
    {
        await withTaskGroup(of: Result<[OutboxEntry], RecordStoreError>?.self) { group in
            group.addTask {
                await Result { () async throws(RecordStoreError) in
                    try await outbox.accept([OutboxStage.write(["7"])])
                }
            }
            group.addTask {
                // Reading the owner's token takes a second.
                try? await stage.timer.sleep(for: .milliseconds(1_500))
                return nil
            }
            _ = await group.next()
            group.cancelAll()
            return await group.next() ?? nil
        }
    }

    @Test func writeIsAcceptedIfTheTaskIsCancelledDuringTheCommit() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let store = SlowRecordStore(stage.store, timer: stage.timer, answersLate: true)
        let outbox = try stage.outbox(upstream, store: store)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try #require(try await acceptanceCancelledDuringTheCommit(outbox)?.get())
            #expect(stage.handler.events.first == entries.first.map { .accepted($0) })
            try await outbox.settlement(of: try #require(entries.first))
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test func nothingIsAcceptedIfTheTaskIsCancelledBeforeTheCommit() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let outbox = try stage.outbox(upstream, store: SlowRecordStore(stage.store, timer: stage.timer))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let outcome = try #require(await acceptanceCancelledDuringTheCommit(outbox))
            #expect(outcome.failure?.reason == .cancelled)
            #expect(outbox.pending == [])
            await outbox.close()
            #expect(try await stage.store.records(under: outbox.records.entries).isEmpty)
        }
        #expect(upstream.requests.isEmpty)
        #expect(stage.handler.events == [])
    }
}
