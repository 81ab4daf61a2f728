import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

/// Instances of which one has heard of a change of another one before its own write ends.
@Suite(.timeLimit(.minutes(5)))
struct LateWriteTests {
    private let scheduler = DeterministicScheduler(seed: 3)
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    /// Runs work with the repositories of two instances, of which the second one follows the first one.
    private func run(
        _ answers: any DataFetcher,
        _ body: @escaping @Sendable (Repository<Remark>, Repository<Remark>) async throws -> Void
    ) async throws {
        let peers = (1...2).map { RepositoryPeers(sharing: store, generator: SplitMix64(seed: $0)) }
        let repositories = try zip(peers, [source, answers] as [any DataFetcher]).map { peers, source in
            let place = RepositoryStore(store, partition: ["ada"], peers: peers, now: { OutboxStage.time }) {
                Issue.record($0)
            }
            return try Repository.versioned(source, store: place, timer: scheduler.timer)
        }
        try await scheduler.run { [self] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await peers[1].followAnnouncements() }
                try await wait()
                try await body(repositories[0], repositories[1])
                group.cancelAll()
            }
        }
    }

    private func wait() async throws { try await scheduler.timer.sleep(for: .seconds(1)) }

    /// Changes the remarks at the upstream, and lets the other instance hear of it.
    private func changeAll(_ one: Repository<Remark>) async throws {
        for id in [2, 4] { source.put(Remark(id: id, author: 7, text: "last")) }
        one.invalidate(under: ["remarks"])
        await one.flush()
        try await wait()
    }

    @Test(arguments: [DataRequest.Method.put, .delete, .post])
    func writeDoesNotReplaceALaterChange(method: DataRequest.Method) async throws {
        let answers = LateAnswer(base: source, method: method)
        try await run(answers) { [self] one, late in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    switch method {
                    case .put: try await late.update(2) { $0.text = "new" }
                    case .delete: try await late.delete(2)
                    default: _ = try await late.create(RemarkDTO(Remark(id: 0, author: 7, text: "4")))
                    }
                }
                _ = await answers.hasLeft.pass()
                try await changeAll(one)
                answers.mayArrive.open()
                try await group.waitForAll()
            }
            for id in [2, 4] { #expect(try await late.entity(id).value.text == "last") }
        }
    }

    /// A settlement that is committed, or repeated, after another instance has announced a change.
    @Test(arguments: [DataRequest.Method.put, .delete], [false, true])
    func settlementDoesNotReplaceALaterChange(method: DataRequest.Method, isRepeated: Bool) async throws {
        try await run(source) { [self] one, late in
            let handler = try #require(late.handler)
            let mine = try JSONEncoder().encode(RemarkDTO(Remark(id: 2, author: 7, text: "mine")))
            let entry = OutboxEntry(
                sequence: 1,
                write: OutboxWrite(
                    endpoint: "remarks",
                    subject: ["remarks", "2"],
                    method: method,
                    path: "remarks/2",
                    body: Array(mine),
                    entityID: "2"
                ),
                idempotencyKey: "a",
                acceptedAt: OutboxStage.time,
                attempts: 0
            )
            let answer = DataResponse(body: method == .put ? mine : Data())
            var settlement = try await handler.delivered(entry, answer: answer, before: LaterEntries())
            if !isRepeated { try await store.commit(settlement.changes) }
            try await changeAll(one)
            if isRepeated {
                settlement = try await handler.delivered(entry, answer: answer, before: LaterEntries())
                try await store.commit(settlement.changes)
            }
            settlement.whenCommitted()
            for repository in [late, one] {
                #expect(try await repository.entity(2).value.text == "last")
                #expect(try await repository.entities().value.map(\.text) == ["1", "last", "3", "last"])
            }
        }
    }
}
