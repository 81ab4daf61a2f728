import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Several instances of a service with a store and an upstream, on one manual clock.
struct SharedOutboxStage {
    static let time = Date(timeIntervalSince1970: 1_700_000_000.25)
    static let partition = "users/1"

    let scheduler: DeterministicScheduler
    let store: InMemoryRecordStore
    let handler = RecordingOutboxHandler()
    let errors = RecordingErrorHandler()

    init(seed: UInt64 = 7) {
        let scheduler = DeterministicScheduler(seed: seed)
        self.scheduler = scheduler
        store = InMemoryRecordStore(now: { Self.time.addingTimeInterval(scheduler.clock.now.offset / .seconds(1)) })
    }

    var timer: TimerService { scheduler.timer }

    /// The time that has passed on the clock.
    var elapsed: Duration { scheduler.clock.now.offset }

    /// Returns an upstream that applies the fates to its requests in order. It does all later requests.
    func upstream(_ fates: IdempotentDataFetcher.Fate..., latency: Duration = .zero) -> IdempotentDataFetcher {
        let script = FateScript(fates)
        return IdempotentDataFetcher(timer: timer, latency: { _ in latency }, fate: { _ in script.next() })
    }

    /// Returns the outbox of an instance. Waits between attempts are as long as the policy allows.
    func outbox(
        _ dataFetcher: any DataFetcher,
        store: (any SharedRecordStore)? = nil,
        handler: (any OutboxHandler)? = nil,
        policy: SharedOutboxPolicy = SharedOutboxPolicy(
            delivery: OutboxPolicy(attemptLimit: .seconds(20), jitter: Jitter { 1 })
        ),
        keySeed: UInt64 = 1,
        skew: Duration = .zero
    ) throws -> SharedOutbox {
        let clock = scheduler.clock
        let destination = OutboxDestination(upstream: try .example(dataFetcher), handlers: [handler ?? self.handler])
        return SharedOutbox(
            store: store ?? self.store,
            policy: policy,
            timer: timer,
            now: { Self.time.addingTimeInterval((clock.now.offset + skew) / .seconds(1)) },
            generator: SplitMix64(seed: keySeed),
            errorHandler: errors
        ) { _ in destination }
    }

    /// Runs work while outboxes deliver.
    func delivering<Value: Sendable>(
        by outboxes: [SharedOutbox],
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await scheduler.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for outbox in outboxes { group.addTask { await outbox.run() } }
                let value = try await work()
                group.cancelAll()
                return value
            }
        }
    }

    /// Waits until a condition holds, at most an hour of the manual clock.
    func until(_ condition: () async throws -> Bool) async throws {
        let end = timer.now + .seconds(3_600)
        while try await !condition() {
            try #require(timer.now < end)
            try await timer.sleep(for: .milliseconds(100))
        }
    }

    /// Waits until nothing is pending.
    func untilDelivered(_ outbox: SharedOutbox) async throws {
        try await until { try await outbox.pending(in: Self.partition).isEmpty }
    }

    /// Returns a write of a subject with a JSON body.
    static func write(_ subject: RecordKey, _ text: String = "1", endpoint: String = "posts") -> OutboxWrite {
        OutboxStage.write(subject, text, endpoint: endpoint)
    }
}
