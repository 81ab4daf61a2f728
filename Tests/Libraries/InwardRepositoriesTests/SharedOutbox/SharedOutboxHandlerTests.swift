import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxHandlerTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition
    private let conflict = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 412))

    private func write(_ text: String, _ version: OutboxWrite.Version = .any, revision: Int = 0) -> OutboxWrite {
        OutboxWrite(
            endpoint: "posts",
            subject: ["7"],
            method: .put,
            path: "7",
            body: Array(text.utf8),
            version: version,
            revision: revision
        )
    }

    /// Accepts writes, and returns the dead letters when all are delivered.
    private func deliver(
        _ writes: [OutboxWrite],
        _ upstream: IdempotentDataFetcher,
        _ handler: DecidingHandler
    ) async throws -> [OutboxItem] {
        let outbox = try stage.outbox(upstream, handler: handler)
        try await stage.delivering(by: [outbox]) { [stage, partition] in
            try await outbox.accept(writes, in: partition)
            try await stage.untilDelivered(outbox)
        }
        #expect(try await stage.store.records(under: ["outbox", "notes"]).isEmpty)
        return try await outbox.deadLetters(in: partition)
    }

    @Test func handlerDecidesWhatIsSent() async throws {
        let upstream = stage.upstream()
        let revision = write("2")
        let handler = DecidingHandler(
            base: stage.handler,
            prepare: { entry in
                entry.write == revision ? .ready : .revised(revision)
            }
        )
        #expect(try await deliver([write("1")], upstream, handler).isEmpty)
        #expect(upstream.requests.map(\.text) == ["2"])
        #expect(handler.revisions.entries == ["2"])
    }

    @Test func handlerRefusesAWriteThatWasNotSent() async throws {
        let upstream = stage.upstream()
        let handler = DecidingHandler(
            base: stage.handler,
            prepare: { entry in
                .refused(RepositoryError(.refused, request: "\(entry.write)", explanation: "is too old"))
            }
        )
        #expect(try await deliver([write("1")], upstream, handler).first?.cause?.contains("is too old") == true)
        #expect(upstream.requests.isEmpty)
    }

    @Test func conflictThatNobodyDecidesIsADeadLetter() async throws {
        let upstream = stage.upstream(conflict)
        let letters = try await deliver([write("1")], upstream, DecidingHandler(base: stage.handler))
        #expect(letters.count == 1 && letters.first?.conflict == nil)
        #expect(upstream.requests.count == 1)
    }

    @Test func deadLetterOfAConflictHasBothVersions() async throws {
        let versions = OutboxConflict(mine: [1], theirs: [2], entityTag: "\"b\"")
        let handler = DecidingHandler(base: stage.handler, resolve: { _ in .conflict(versions) })
        let letters = try await deliver([write("1")], stage.upstream(conflict), handler)
        #expect(letters.map(\.conflict) == [versions])
    }

    @Test func droppedWriteIsNoDeadLetterAndTheNextOneIsForTheUpstreamsVersion() async throws {
        let upstream = stage.upstream(conflict)
        let handler = DecidingHandler(base: stage.handler, resolve: { _ in .dropped(.entityTag("\"b\"")) })
        let writes = [write("1", .entityTag("\"a\"")), write("2", .entityTag("\"a\""))]
        #expect(try await deliver(writes, upstream, handler).isEmpty)
        #expect(upstream.requests.map { $0.headerFields[.ifMatch] } == ["\"a\"", "\"b\""])
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func revisedWriteHasAKeyOfItsOwn() async throws {
        let upstream = stage.upstream(.answerLost, conflict)
        let revision = write("2", revision: 1)
        let handler = DecidingHandler(base: stage.handler, resolve: { _ in .revised(revision) })
        #expect(try await deliver([write("1")], upstream, handler).isEmpty)
        #expect(upstream.requests.map(\.text) == ["1", "1", "2"])
        let keys = upstream.requests.map { $0.headerFields[.idempotencyKey] ?? "" }
        #expect(keys[0] == keys[1] && keys[2] == "\(keys[0])-1")
        #expect(handler.revisions.entries == ["2"])
    }

    @Test func laterWritesOfTheSubjectAreKnownWhenOneIsSettled() async throws {
        _ = try await deliver((1...4).map { write("\($0)") }, stage.upstream(), DecidingHandler(base: stage.handler))
        let counts = stage.handler.events.compactMap { event in
            if case .delivered(_, let later) = event { later } else { nil }
        }
        #expect(counts == [3, 2, 1, 0])
    }
}
