import InwardCore
import InwardFetching
import Synchronization
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct WriteHandlerTests {
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock(\.self) }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let pending = PendingLayer<Remark>()
    private let log = Log()
    private let changes: [RecordChange] = [.removeAll(["remarks", "lists"])]
    private let remark = Remark(id: 4, author: 7, text: "four")
    private let body = #"{"id": 4, "author": 7, "text": "four"}"#

    private var entry: OutboxEntry {
        OutboxEntry(
            sequence: 1,
            write: OutboxStage.write(["4"], body),
            idempotencyKey: "k",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
    }

    private var handler: WriteHandler<Remark> {
        WriteHandler(
            entities: Endpoint(RemarkDTO.self, at: "remarks", creation: .remarks),
            pending: pending,
            store: EntityStore(
                Endpoint(RemarkDTO.self, at: "remarks"),
                in: RepositoryStore(InMemoryRecordStore { OutboxStage.time }, partition: []) {
                    OutboxStage.time
                } reportFailure: { _ in
                }
            ),
            effects: WriteEffects(
                prepare: { [log] id, key in
                    log.add("prepare \(id ?? 0) \(key)")
                    return true
                },
                keep: { [log] remark, _, _ in log.add("keep \(remark.id)") },
                keepAbsence: { [log] id, _ in log.add("keep absence \(id)") },
                forget: { [log] id in log.add(id.map { "forget \($0)" } ?? "forget lists") },
                end: { [log] key in log.add("end \(key)") },
                cached: { _ in nil },
                current: { _ in nil }
            )
        )
    }

    /// Settles an entry, and returns the handler's calls before and after the settlement was durable.
    private func settled(
        _ entry: OutboxEntry? = nil,
        _ settle: (WriteHandler<Remark>, OutboxEntry) async throws -> OutboxSettlement
    ) async throws -> (before: [String], after: [String], settlement: OutboxSettlement) {
        let (handler, entry) = (handler, entry ?? self.entry)
        handler.accepted([entry])
        #expect(pending.version(4)?.entity == remark)
        let settlement = try await settle(handler, entry)
        let before = log.all
        #expect(pending.version(4)?.entity == remark)
        settlement.whenCommitted()
        #expect(pending.version(4)?.entity == nil)
        return (before, Array(log.all.dropFirst(before.count)), settlement)
    }

    @Test func createdEntityReplacesThePendingOne() async throws {
        let body = Data(body.utf8)
        let found = try await settled { handler, entry in
            try await handler.delivered(entry, answer: DataResponse(body: body), before: LaterEntries())
        }
        #expect(found.before == ["prepare 4 k"])
        #expect(found.after == ["keep 4", "end k"])
        #expect(found.settlement.changes.count == 2 && found.settlement.changes.last == changes.first)
        #expect(found.settlement.problem == nil)
    }

    /// The new entity may belong in any list.
    @Test(arguments: ["{", ""])
    func unreadableResponseForgetsAllLists(answer: String) async throws {
        let found = try await settled { handler, entry in
            try await handler.delivered(entry, answer: DataResponse(body: Data(answer.utf8)), before: LaterEntries())
        }
        #expect(found.before == ["prepare 0 k"])
        #expect(found.after == ["forget lists", "end k"])
        #expect(found.settlement.changes == changes && found.settlement.problem != nil)
    }

    @Test func uncertainCreationForgetsAllLists() async throws {
        let error = RepositoryError(.outcomeUnknown, request: "POST remarks", explanation: "was cut off")
        let found = try await settled { handler, entry in
            try await handler.refused(entry, because: error, before: LaterEntries())
        }
        #expect(found.before == ["prepare 0 k"])
        #expect(found.after == ["forget lists", "end k"])
        #expect(found.settlement.changes == changes)
    }

    @Test func refusedCreationIsInNoList() async throws {
        let error = RepositoryError(.refused, request: "POST remarks", explanation: "was answered with 422")
        let found = try await settled { handler, entry in
            try await handler.refused(entry, because: error, before: LaterEntries())
        }
        #expect(found.before.isEmpty && found.after == ["end k"])
        #expect(found.settlement.changes.isEmpty)
    }

    private func update(_ method: DataRequest.Method) -> OutboxEntry {
        OutboxEntry(
            sequence: 1,
            write: OutboxWrite(
                endpoint: "remarks",
                subject: ["remarks", "4"],
                method: method,
                path: "remarks/4",
                body: Array(body.utf8),
                entityID: "4"
            ),
            idempotencyKey: "k",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
    }

    @Test func unknownResultOfAnUpdateIsForgotten() async throws {
        let found = try await settled(update(.put)) { handler, entry in
            try await handler.delivered(entry, answer: DataResponse(body: Data("{".utf8)), before: LaterEntries())
        }
        #expect(found.before == ["prepare 4 k"])
        #expect(found.after == ["forget 4", "end k"])
        #expect(found.settlement.changes.count == 2 && found.settlement.changes.last == changes.first)
    }

    @Test func refusedUpdateLeavesTheEntityUnchanged() async throws {
        let update = update(.put)
        let error = RepositoryError(.refused, request: "PUT remarks/4", explanation: "was answered with 422")
        let found = try await settled(update) { handler, entry in
            try await handler.refused(entry, because: error, before: LaterEntries())
        }
        #expect(found.before.isEmpty && found.after == ["end k"])
        #expect(found.settlement.changes.isEmpty)
    }
}
