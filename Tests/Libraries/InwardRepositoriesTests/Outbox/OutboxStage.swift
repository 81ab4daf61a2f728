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

/// The environment of an outbox in a test: a store, a handler, an error handler and a clock.
///
/// Tasks run in an order that a seed determines. The clock advances when no task is ready.
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

    /// The time that has passed on the clock.
    var elapsed: Duration { scheduler.clock.now.offset }

    /// Returns an upstream that applies the fates to its requests in order. It does all later requests.
    func upstream(_ fates: IdempotentDataFetcher.Fate..., latency: Duration = .zero) -> IdempotentDataFetcher {
        let script = FateScript(fates)
        return IdempotentDataFetcher(timer: timer, latency: { _ in latency }, fate: { _ in script.next() })
    }

    /// Returns an outbox whose waits are as long as its policy allows.
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

    /// Returns a write of a subject with a JSON body.
    static func write(_ subject: RecordKey, _ text: String = "1", endpoint: String = "posts") -> OutboxWrite {
        OutboxWrite(
            endpoint: endpoint,
            subject: subject,
            path: subject.components.joined(separator: "/"),
            body: Array(text.utf8)
        )
    }

    /// Returns the bodies that the handler has stored, by subject.
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
