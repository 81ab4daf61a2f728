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

/// What an outbox needs around it: a store, an upstream, and whoever is told what becomes of writes.
///
/// All of it runs in an order that a seed chooses, on a clock that moves on when nothing is ready.
struct OutboxStage {
    static let time = Date(timeIntervalSince1970: 1_700_000_000.25)

    let scheduler: DeterministicScheduler
    let store = RecordingRecordStore()
    let handler = RecordingOutboxHandler()
    let errors = RecordingErrorHandler()

    init(seed: UInt64 = 7) {
        scheduler = DeterministicScheduler(seed: seed)
    }

    var timer: TimerService { scheduler.timer }

    /// How far the clock was moved on.
    var elapsed: Duration { scheduler.clock.now.offset }

    /// An upstream whose requests meet the fates in their order, and are done behind the last of them.
    func upstream(_ fates: IdempotentDataFetcher.Fate..., latency: Duration = .zero) -> IdempotentDataFetcher {
        let script = FateScript(fates)
        return IdempotentDataFetcher(timer: timer, latency: { _ in latency }, fate: { _ in script.next() })
    }

    /// An outbox that waits the longest that its policy allows.
    func outbox(
        _ dataFetcher: any DataFetcher,
        store: (any RecordStore)? = nil,
        policy: OutboxPolicy = OutboxPolicy(jitter: Jitter { 1 }),
        keySeed: UInt64 = 1,
        observer: (any RepositoryObserver)? = nil,
        errors: (any ErrorHandler)? = nil
    ) throws -> Outbox {
        let clock = scheduler.clock
        return Outbox(
            upstream: try .example(dataFetcher),
            store: store ?? self.store,
            policy: policy,
            timer: timer,
            now: { Self.time.addingTimeInterval(clock.now.offset / .seconds(1)) },
            generator: SplitMix64(seed: keySeed),
            observer: observer,
            errorHandler: errors ?? self.errors
        )
    }

    /// Opens an outbox, waits until it has settled a write, and closes it.
    func settle(_ write: OutboxWrite = OutboxStage.write(["7"]), by outbox: Outbox) async throws {
        try await outbox.open(handlers: [handler])
        let entry = try await outbox.accept([write])[0]
        try await outbox.settlement(of: entry)
        await outbox.close()
    }

    /// A write of a subject whose body is a text of JSON.
    static func write(_ subject: RecordKey, _ text: String = "1", endpoint: String = "posts") -> OutboxWrite {
        OutboxWrite(
            endpoint: endpoint,
            subject: subject,
            path: subject.components.joined(separator: "/"),
            body: Array(text.utf8)
        )
    }

    /// What is kept under the handler's values: the bodies, by the subject.
    func values() async throws -> [RecordKey: String] {
        let records = try await store.records(under: handler.values)
        return Dictionary(
            uniqueKeysWithValues: records.map {
                (RecordKey(Array($0.key.components.dropFirst())), String(decoding: $0.record.bytes, as: UTF8.self))
            }
        )
    }
}

extension DataRequest {
    /// The body as a text.
    var text: String { String(decoding: body ?? Data(), as: UTF8.self) }
}
