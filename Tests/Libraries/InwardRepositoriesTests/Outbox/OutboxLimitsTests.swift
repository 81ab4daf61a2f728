import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

/// Tests of the limits for the number and size of pending writes and dead letters.
@Suite(.timeLimit(.minutes(5)))
struct OutboxLimitsTests {
    private let stage = OutboxStage()

    private func write(_ subject: RecordKey, bytes: Int) -> OutboxWrite {
        OutboxWrite(endpoint: "posts", subject: subject, path: "7", body: [UInt8](repeating: 49, count: bytes))
    }

    @Test func sizeOfAWriteCountsAllOfItsParts() {
        let write = OutboxWrite(endpoint: "posts", subject: ["ab", "c"], path: "é", body: [1, 2, 3, 4])
        #expect(write.byteCount == 5 + 3 + 2 + 4)
        #expect(OutboxWrite(endpoint: "posts", subject: ["a"], method: .delete, path: "7").byteCount == 5 + 1 + 1)
    }

    @Test func writeThatIsTooLargeIsNotAccepted() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(), policy: OutboxPolicy(maximumWriteBytes: 100))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let overhead = write(["7"], bytes: 0).byteCount
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([write(["7"], bytes: 101 - overhead)])
            }
            #expect(error?.reason == .denied)
            try await outbox.accept([write(["7"], bytes: 100 - overhead)])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }

    @Test func firstOfSeveralWritesThatAreTooLargeIsNamed() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(), policy: OutboxPolicy(maximumWriteBytes: 100))
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([write(["7"], bytes: 1), write(["8"], bytes: 200), write(["9"], bytes: 300)])
            }
            #expect(error?.explanation.contains("\(write(["8"], bytes: 200).byteCount) bytes") == true)
            #expect(stage.handler.events == [])
            await outbox.close()
        }
    }

    @Test(arguments: [0, 1]) func writesMayFillTheLimitExactly(shortage: Int) async throws {
        let stage = stage
        let writes = [write(["7"], bytes: 100), write(["8"], bytes: 100)]
        let byteCount = writes.reduce(0) { $0 + $1.byteCount }
        let outbox = try stage.outbox(
            StubDataFetcher(failing: .unreachable),
            policy: OutboxPolicy(maximumPendingBytes: byteCount - shortage)
        )
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            let accepted = try? await outbox.accept(writes)
            #expect(accepted?.count == (shortage == 0 ? 2 : nil))
            await outbox.close()
        }
    }

    @Test func byteLimitOfPendingWritesHoldsAcrossProcesses() async throws {
        let stage = stage
        let policy = OutboxPolicy(maximumPendingBytes: 1_000, jitter: Jitter { 1 })
        try await stage.scheduler.run {
            let first = try stage.outbox(StubDataFetcher(failing: .unreachable), policy: policy)
            try await first.open(handlers: [stage.handler])
            try await first.accept([write(["7"], bytes: 400), write(["8"], bytes: 400)])
            let full = await #expect(throws: RecordStoreError.self) {
                try await first.accept([write(["9"], bytes: 400)])
            }
            #expect(full?.reason == .full)
            #expect(full?.explanation.contains("1000 are allowed") == true)
            #expect(stage.handler.pending.count == 2)
            let bytes = first.status.pendingBytes
            await first.close()
            let second = try stage.outbox(stage.upstream(latency: .seconds(1)), policy: policy, keySeed: 2)
            try await second.open(handlers: [stage.handler])
            #expect(second.status.pendingBytes == bytes)
            await #expect(throws: RecordStoreError.self) { try await second.accept([write(["9"], bytes: 400)]) }
            #expect(await second.drain() == 0)
            #expect(second.status.pendingBytes == 0)
            try await second.accept([write(["9"], bytes: 400)])
            #expect(await second.drain() == 0)
            await second.close()
        }
    }

    @Test(arguments: [OutboxPolicy(maximumPending: 1), OutboxPolicy(maximumPendingBytes: 200)])
    func writesBeingAcceptedCountTowardTheLimit(policy: OutboxPolicy) async throws {
        let stage = stage
        let slow = SlowRecordStore(stage.store, timer: stage.timer)
        let outbox = try stage.outbox(stage.upstream(), store: slow, policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            async let first = outbox.accept([write(["7"], bytes: 100)])
            try await stage.timer.sleep(for: .milliseconds(500))
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([write(["8"], bytes: 100)])
            }
            #expect(error?.reason == .full)
            #expect(try await first.count == 1)
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }

    @Test(arguments: [OutboxPolicy(maximumPending: 1), OutboxPolicy(maximumPendingBytes: 200)])
    func failedAcceptanceDoesNotCountTowardTheLimit(policy: OutboxPolicy) async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream(), policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            stage.store.fail(with: RecordStoreError(.unavailable, explanation: "The disk is full."))
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([write(["7"], bytes: 100)])
            }
            #expect(error?.reason == .unavailable)
            stage.store.fail(with: nil)
            try await outbox.accept([write(["7"], bytes: 100)])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }

    @Test(arguments: [OutboxPolicy(maximumDeadLetters: 2), OutboxPolicy(maximumDeadLetterBytes: 200)])
    func noWriteIsAcceptedAtTheDeadLetterLimit(policy: OutboxPolicy) async throws {
        let stage = stage
        let refusal = IdempotentDataFetcher.Fate.turnedAway(DataResponse(status: 422))
        let outbox = try stage.outbox(stage.upstream(refusal, refusal), policy: policy)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [stage.handler])
            for subject in ["7", "8"] {
                try await outbox.accept([write([subject], bytes: 100)])
                #expect(await outbox.drain() == 0)
            }
            let full = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([write(["9"], bytes: 1)])
            }
            #expect(full?.reason == .full)
            #expect(full?.explanation.contains("Retry or discard some") == true)
            let dependent = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept(in: ["9"], replacing: nil) { write(["9"], bytes: 1) }
            }
            #expect(dependent?.reason == .full)
            let letters = try await outbox.contents().deadLetters
            #expect(letters.count == 2)
            try await outbox.discard(try #require(letters.first).id)
            try await outbox.accept([write(["9"], bytes: 1)])
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
    }
}
