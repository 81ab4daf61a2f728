import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct OutboxRefusalTests {
    private let stage = OutboxStage()

    @Test(arguments: [400, 404, 409, 410, 413, 422] as [DataResponse.Status])
    func finallyRefusedWriteIsUndoneAndReportedOnce(status: DataResponse.Status) async throws {
        let stage = stage
        let upstream = stage.upstream(.turnedAway(DataResponse(status: status)))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let optimistic = RecordChange.keep(StoredRecord([9]), stage.handler.key(of: ["7"]))
            let entry = try await outbox.accept([OutboxStage.write(["7"])], with: [optimistic])[0]
            let error = await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            let refusal = try #require(error)
            #expect(refusal.explanation == "was answered with \(status)")
            // A later caller gets the same error.
            await #expect(throws: refusal) { try await outbox.settlement(of: entry) }
            await outbox.close()
            #expect(outbox.pending == [])
            #expect(try await stage.values() == [:])
            #expect(try await stage.store.records(under: outbox.records.entries).isEmpty)
            #expect(
                stage.handler.events == [
                    .accepted(entry), .refused(entry, because: refusal, later: 0), .committed(entry),
                ]
            )
            #expect(stage.errors.errors as? [RefusedWriteError] == [RefusedWriteError(entry, because: refusal)])
            let told = try #require(stage.errors.errors.first)
            #expect("\(told)".hasPrefix("The write POST 7 was refused for good"))
            #expect("\(told)".contains("\(status)"))
        }
        #expect(upstream.requests.count == 1)
        #expect(outbox.counts.refused == 1)
    }

    @Test func writesAfterARefusedOneAreDelivered() async throws {
        let stage = stage
        let upstream = stage.upstream(.turnedAway(DataResponse(status: 422)))
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entries = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            try await outbox.settlement(of: entries[1])
            await outbox.close()
            #expect(try await stage.values() == [["7"]: "2"])
        }
        #expect(upstream.done.map(\.text) == ["2"])
        #expect(stage.errors.errors.count == 1)
    }

    @Test func conflictAfterALostResponseMayMeanThatTheUpstreamIsBusy() async throws {
        let stage = stage
        let conflict = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 409))
        let upstream = stage.upstream(.answerLost, conflict, conflict)
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run { try await stage.settle(by: outbox) }
        #expect(upstream.done.count == 1)
        #expect(outbox.counts.delivered == 1)
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func conflictAfterARestartMayMeanThatTheUpstreamIsBusy() async throws {
        let stage = stage
        let upstream = stage.upstream(.answerLost, .turnedAway(DataResponse(status: 409)))
        try await stage.scheduler.run {
            let outbox = try stage.outbox(upstream)
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            await outbox.close()
            let next = try stage.outbox(upstream, keySeed: 2)
            try await next.open(handlers: [stage.handler])
            try await next.settlement(of: entry)
            await next.close()
        }
        #expect(upstream.done.count == 1)
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func refusalIsReportedOnlyOnceItIsSettled() async throws {
        let stage = stage
        let refusal = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 422))
        let outbox = try stage.outbox(stage.upstream(refusal, refusal))
        stage.handler.fail(with: RecordStoreError(.unavailable, explanation: "It is not there."))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await stage.timer.sleep(for: .milliseconds(500))
            #expect(stage.errors.errors.allSatisfy { $0 is DelayedWriteError })
            stage.handler.fail(with: nil)
            await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
            await outbox.close()
        }
        #expect(stage.errors.errors.filter { $0 is RefusedWriteError }.count == 1)
    }
}
