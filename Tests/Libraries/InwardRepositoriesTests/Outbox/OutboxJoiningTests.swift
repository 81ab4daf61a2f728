import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing
import Thoroughness

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct OutboxJoiningTests {
    /// The handlers that have joined so far.
    private final class Joined: Sendable {
        let handlers = Mutex<[RecordingOutboxHandler]>([])
    }

    /// A handler that calls a closure when it is deallocated.
    private final class ObservedHandler: OutboxHandler {
        let endpoint = "posts"
        let operations = RecordingOutboxHandler.anyOperation
        private let whenReleased: @Sendable () -> Void

        init(whenReleased: @escaping @Sendable () -> Void) {
            self.whenReleased = whenReleased
        }

        deinit { whenReleased() }

        func reset(to entries: [OutboxEntry]) {}

        func accepted(_ entries: [OutboxEntry]) {}

        func delivered(
            _ entry: OutboxEntry,
            answer: DataResponse,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }

        func refused(
            _ entry: OutboxEntry,
            because error: RepositoryError,
            before later: LaterEntries
        ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }
    }

    private let stage = OutboxStage()

    @Test func joiningHandlerIsNotifiedOfPendingWritesAndSettlesThem() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(1))
        try await stage.scheduler.run {
            let outbox = try stage.outbox(upstream)
            try await outbox.open(handlers: [stage.handler])
            let before = try await outbox.accept([OutboxStage.write(["7"]), OutboxStage.write(["7"], "2")])
            let other = RecordingOutboxHandler()
            _ = try await outbox.join(handlers: [other])
            #expect(other.pending == before)
            let after = try await outbox.accept([OutboxStage.write(["8"])])
            #expect(other.pending == before + after)
            for entry in before + after { try await outbox.settlement(of: entry) }
            #expect(other.pending == [])
            #expect(stage.handler.pending == [])
            await outbox.close()
        }
    }

    @Test func handlerThatHasLeftIsNotCalled() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(1))
        try await stage.scheduler.run {
            let outbox = try stage.outbox(upstream)
            let first = try await outbox.join(handlers: [stage.handler])
            try await outbox.open()
            let other = RecordingOutboxHandler()
            _ = try await outbox.join(handlers: [other])
            outbox.leave(first)
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            try await outbox.settlement(of: entry)
            #expect(stage.handler.events == [])
            #expect(other.events.contains(.committed(entry)))
            #expect(try await stage.values() == [["7"]: "1"])
            await outbox.close()
        }
    }

    @Test func writeWithoutAHandlerWaitsUntilOneJoins() async throws {
        let stage = stage
        let upstream = stage.upstream(latency: .seconds(1))
        try await stage.scheduler.run {
            let outbox = try stage.outbox(upstream)
            let first = try await outbox.join(handlers: [stage.handler])
            try await outbox.open()
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            // The write is being sent.
            try await stage.timer.sleep(for: .milliseconds(500))
            outbox.leave(first)
            try await stage.timer.sleep(for: .milliseconds(3_000))
            #expect(outbox.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            #expect(try await stage.values() == [:])
            // It is not sent again until a handler joins.
            #expect(upstream.requests.count == 1)
            #expect(stage.errors.errors.allSatisfy { $0 is DelayedWriteError })
            #expect(stage.errors.errors.count == 1)

            let other = RecordingOutboxHandler()
            _ = try await outbox.join(handlers: [other])
            #expect(other.pending.map(\.idempotencyKey) == [entry.idempotencyKey])
            try await outbox.settlement(of: entry)
            #expect(other.pending == [])
            #expect(try await stage.values() == [["7"]: "1"])
            await outbox.close()
        }
        #expect(upstream.done.count == 1)
    }

    @Test func leavingHandlerIsReleasedOutsideOfTheLock() async throws {
        let outbox = try stage.outbox(stage.upstream())
        let counts = Mutex<[Int]>([])
        let member = try await outbox.join(
            handlers: [ObservedHandler { counts.withLock { $0.append(outbox.pending.count) } }]
        )
        #expect(counts.withLock(\.self) == [])
        outbox.leave(member)
        #expect(counts.withLock(\.self) == [0])
    }

    @Test func cancelledJoinLeavesNoHandler() async throws {
        let stage = stage
        let ends = Mutex(0)
        let noteEnd: @Sendable () -> Void = { ends.withLock { $0 += 1 } }
        let endCount: @Sendable () -> Int = { ends.withLock { $0 } }
        try await stage.scheduler.run {
            let outbox = try stage.outbox(stage.upstream())
            try await outbox.open(handlers: [SlowOutboxHandler(base: stage.handler, timer: stage.timer)])
            let entry = try await outbox.accept([OutboxStage.write(["7"])])[0]
            // The write is being settled.
            try await stage.timer.sleep(for: .seconds(1))
            let joining = Task(executorPreference: stage.scheduler.executor) {
                try await outbox.join(handlers: [ObservedHandler(whenReleased: noteEnd)])
            }
            try await stage.timer.sleep(for: .seconds(1))
            joining.cancel()
            await #expect(throws: RecordStoreError.self) { try await joining.value }
            // The outbox has released the handler.
            #expect(endCount() == 1)
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
    }

    @Test func handlerThatJoinsBeforeOpeningIsNotifiedOfPendingWrites() async throws {
        let stage = stage
        let upstream = stage.upstream()
        try await stage.scheduler.run {
            let earlier = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await earlier.open(handlers: [stage.handler])
            let left = try await earlier.accept([OutboxStage.write(["7"])])
            await earlier.close()

            let outbox = try stage.outbox(upstream, keySeed: 2)
            let handlers = [RecordingOutboxHandler(), RecordingOutboxHandler()]
            for handler in handlers { _ = try await outbox.join(handlers: [handler]) }
            try await outbox.open()
            try await outbox.open()
            for handler in handlers { #expect(handler.pending.map(\.idempotencyKey) == left.map(\.idempotencyKey)) }
            for entry in left { try await outbox.settlement(of: entry) }
            for handler in handlers { #expect(handler.pending == []) }
            await outbox.close()
            await #expect(throws: RecordStoreError.self) { try await outbox.join(handlers: [stage.handler]) }
            await #expect(throws: RecordStoreError.self) { try await outbox.open() }
        }
    }

    @Test func twoHandlersOfOneEndpointCannotJoinTogether() async throws {
        let outbox = try stage.outbox(stage.upstream())
        let error = await #expect(throws: RecordStoreError.self) {
            try await outbox.join(handlers: [RecordingOutboxHandler(), RecordingOutboxHandler()])
        }
        #expect(error?.reason == .denied)
    }

    /// In any order of events, no handler is notified of an entry that has been settled, and no handler misses an entry.
    @Test(arguments: Thoroughness.sample([UInt64](1...200), every: 10) + [.random(in: 201 ... .max)])
    func handlersThatJoinConcurrentlyKnowWhichWritesArePending(seed: UInt64) async throws {
        let stage = OutboxStage(seed: seed)
        let upstream = stage.upstream(.lost, .done, .answerLost, latency: .seconds(1))
        try await stage.scheduler.run {
            let earlier = try stage.outbox(StubDataFetcher(failing: .unreachable))
            try await earlier.open(handlers: [RecordingOutboxHandler()])
            let left = try await earlier.accept(["0", "1"].map { OutboxStage.write([$0], "left") })
            await earlier.close()

            let store = SlowRecordStore(stage.store, timer: stage.timer)
            let outbox = try stage.outbox(upstream, store: store, keySeed: seed &+ 1_000)
            let handlers = (0..<6).map { _ in RecordingOutboxHandler() }
            let joined = Joined()
            var random = SplitMix64(seed: seed)
            // Some handlers join while the outbox is being opened.
            let moments = handlers.indices.map { index in
                Duration.milliseconds(Int.random(in: 0...(index < 2 ? 3_000 : 20_000), using: &random))
            }
            try await withThrowingTaskGroup { group in
                for (handler, moment) in zip(handlers, moments) {
                    group.addTask {
                        try await stage.timer.sleep(for: moment)
                        _ = try await outbox.join(handlers: [handler])
                        joined.handlers.withLock { $0.append(handler) }
                    }
                }
                try await outbox.open(handlers: [stage.handler])
                for number in 0..<6 {
                    group.addTask {
                        try await stage.timer.sleep(for: .seconds(number))
                        let present = joined.handlers.withLock(\.self)
                        let entry = try await outbox.accept([OutboxStage.write(["\(number % 3)"], "\(number)")])[0]
                        for handler in present { #expect(handler.events.contains(.accepted(entry)), "seed \(seed)") }
                    }
                }
                try await group.waitForAll()
            }
            for entry in left + outbox.pending { try await outbox.settlement(of: entry) }
            for handler in handlers + [stage.handler] {
                #expect(handler.pending == [], "seed \(seed)")
                let told = handler.events.compactMap { event in
                    if case .accepted(let entry) = event { entry.idempotencyKey } else { nil }
                }
                #expect(Set(told).count == told.count, "seed \(seed)")
            }
            await outbox.close()
        }
    }
}
