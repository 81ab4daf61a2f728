#if Observability
public import InwardCore
import InwardFetching
public import InwardRepositories
public import Logging
public import Metrics
import Synchronization
public import Tracing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An observer of repositories, stores and outboxes that writes logs, metrics and traces.
///
/// ```swift
/// configuration.observers.repositories = TelemetryRepositoryObserver(logger: logger)
/// ```
///
/// Create one observer for the whole app, because its gauges show the sum over all outboxes.
///
/// - A read is a span of the kind `internal`. Requests to the upstream are its child spans.
/// - An operation of a store is a span of the kind `client`.
/// - An attempt to deliver a write is a span of the kind `consumer`.
///
/// Refused writes and all failures of a store, even during deliveries, are logged at the level `warning`. Postponed and dropped
/// writes are logged at `info`, and other events at `debug`. <doc:TelemetryNames> lists the metrics and spans.
///
/// The observer reports no keys, no bodies and no identifiers of entities, with one exception: the error in the log record of a
/// failed delivery contains the path of the request.
public struct TelemetryRepositoryObserver: RepositoryObserver {
    private let logger: Logger
    private let tracer: any Tracer
    private let readDurations: Instruments<Timer>
    private let joins: Instruments<Counter>
    private let refreshes: Instruments<Counter>
    private let revalidations: Instruments<Counter>
    private let storeDurations: Instruments<Timer>
    private let accepted: Instruments<Counter>
    private let deliveryDurations: Instruments<Timer>
    private let gauges: OutboxGauges

    /// Creates an observer. By default, it uses the logger, the metrics factory and the tracer that the process has bootstrapped.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - tracer: The tracer of the spans.
    ///   - labelSetLimit: The maximum number of label sets for each metric, at least 1. Further label sets share one instrument.
    public init(
        logger: Logger = Logger(label: "inward"),
        factory: any MetricsFactory = MetricsSystem.factory,
        tracer: any Tracer = InstrumentationSystem.tracer,
        labelSetLimit: Int = 2_000
    ) {
        func timers(_ label: String, by names: [String]) -> Instruments<Timer> {
            Instruments(labels: names, limit: labelSetLimit) {
                Timer(label: label, dimensions: $0, preferredDisplayUnit: .seconds, factory: factory)
            }
        }
        func counters(_ label: String, by names: [String]) -> Instruments<Counter> {
            Instruments(labels: names, limit: labelSetLimit) {
                Counter(label: label, dimensions: $0, factory: factory)
            }
        }
        self.logger = logger
        self.tracer = tracer
        let (endpoint, error) = (AttributeName.endpoint, AttributeName.errorType)
        let read = [endpoint, AttributeName.readKind]
        readDurations = timers(
            AttributeName.readDuration,
            by: read + [AttributeName.readResult, AttributeName.readOrigin, error]
        )
        joins = counters("inward.repository.joins", by: read)
        refreshes = counters("inward.repository.refreshes", by: read)
        revalidations = counters("inward.repository.revalidations", by: [endpoint, AttributeName.readResult])
        storeDurations = timers(
            AttributeName.storeDuration,
            by: [AttributeName.storeSystem, AttributeName.storeOperation, error]
        )
        accepted = counters("messaging.client.sent.messages", by: Self.namesOfOutbox)
        deliveryDurations = timers(
            AttributeName.deliveryDuration,
            by: Self.namesOfOutbox + [AttributeName.deliveryResult, error]
        )
        gauges = OutboxGauges(factory)
    }

    /// Runs a step in a span.
    ///
    /// - Throws: The error of `work`.
    public func surround<Value: Sendable, Failure: Error>(
        _ step: RepositoryStep,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let span = tracer.startSpan(step.spanName, ofKind: step.spanKind)
        return try await span.surrounding(step.attributes, work)
    }

    /// Logs a read and records its duration.
    public func readEnded(
        _ read: RepositoryRead,
        by policy: ReadPolicy,
        _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
        after duration: Duration
    ) {
        let (result, origin, error) = outcome.labels
        readDurations[[read.endpoint, read.kind, result, origin, error]].record(duration: duration)
        var attributes: [String: AttributeValue] = [
            AttributeName.readResult: .text(result), AttributeName.readPolicy: .text("\(policy)"),
            AttributeName.readDuration: AttributeValue(duration),
        ]
        if !origin.isEmpty { attributes[AttributeName.readOrigin] = .text(origin) }
        if !error.isEmpty { attributes[AttributeName.errorType] = .text(error) }
        if case .success(let answer) = outcome, answer.isStale {
            attributes[AttributeName.readAge] = AttributeValue(answer.age)
        }
        write(.debug, "Read ended", RepositoryStep.read(read).attributes, attributes)
    }

    /// Logs and counts a read that shares the request of another read.
    public func joined(_ read: RepositoryRead) {
        joins[[read.endpoint, read.kind]].increment()
        write(.debug, "Joined an equal read", RepositoryStep.read(read).attributes)
    }

    /// Logs and counts a refresh in the background.
    public func refreshBegan(_ read: RepositoryRead) {
        refreshes[[read.endpoint, read.kind]].increment()
        write(.debug, "Refresh began", RepositoryStep.read(read).attributes)
    }

    /// Logs and counts a revalidation.
    public func revalidated(_ endpoint: String, isModified: Bool) {
        let result = isModified ? "modified" : "not_modified"
        revalidations[[endpoint, result]].increment()
        write(
            .debug,
            "Revalidated",
            FetchAttributes([AttributeName.endpoint: .text(endpoint), AttributeName.readResult: .text(result)])
        )
    }

    /// Records the duration of an operation of the store, and logs a failure.
    public func storeOperationEnded(
        _ operation: StoreOperation,
        _ error: RecordStoreError?,
        after duration: Duration
    ) {
        storeDurations[[StoreOperation.system, operation.name.description, error?.category ?? ""]]
            .record(duration: duration)
        guard let error else { return }
        write(
            .warning,
            "The store failed",
            error: error,
            RepositoryStep.store(operation).attributes,
            [
                AttributeName.storeDuration: AttributeValue(duration),
                AttributeName.errorType: .text(error.category),
            ]
        )
    }

    /// Logs and counts accepted writes.
    public func writesAccepted(_ entries: [OutboxEntry]) {
        for entry in entries {
            accepted[entry.labels].increment()
            write(.debug, "Write accepted", RepositoryStep.delivery(entry).attributes)
        }
    }

    /// Logs an attempt to deliver a write and records its duration.
    public func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration) {
        let error = end.error
        deliveryDurations[entry.labels + [end.name, error?.category ?? ""]].record(duration: duration)
        var attributes: [String: AttributeValue] = [
            AttributeName.deliveryResult: .text(end.name), AttributeName.deliveryDuration: AttributeValue(duration),
            AttributeName.deliveryAttempts: .integer(entry.attempts),
        ]
        if let error { attributes[AttributeName.errorType] = .text(error.category) }
        let level: Logger.Level =
            switch end {
            case .delivered: .debug
            case .dropped, .postponed: .info
            case .refused, .unsettled: .warning
            }
        write(level, "Delivery ended", error: error, RepositoryStep.delivery(entry).attributes, attributes)
    }

    /// Updates the gauges of all outboxes.
    public func outboxChanged(_ outbox: RecordKey, _ status: OutboxStatus?, at date: Date) {
        gauges.update(outbox, status, at: date)
    }

    private func write(
        _ level: Logger.Level,
        _ message: Logger.Message,
        error: (any Error)? = nil,
        _ step: FetchAttributes,
        _ others: [String: AttributeValue] = [:]
    ) {
        logger.log(
            level: level,
            message,
            error: error,
            metadata: .of(FetchAttributes.interaction.merging(step).merging(FetchAttributes(others)))
        )
    }

    private static let namesOfOutbox = [AttributeName.messagingSystem, AttributeName.messagingDestination]
}

/// The gauges of an app's outboxes, which show the sum over all of them.
private final class OutboxGauges: Sendable {
    private struct Content {
        let status: OutboxStatus
        let oldest: Date?
    }

    private struct Gauges {
        let pending: Meter
        let oldestAge: Meter
        let deadLetters: Meter
        let paused: Meter
    }

    private let gauges: Gauges
    private let contents = Mutex<[RecordKey: Content]>([:])

    init(_ factory: any MetricsFactory) {
        func meter(_ name: String) -> Meter { Meter(label: "inward.outbox.\(name)", factory: factory) }
        gauges = Gauges(
            pending: meter("pending"),
            oldestAge: meter("oldest.age"),
            deadLetters: meter("dead_letters"),
            paused: meter("paused")
        )
    }

    func update(_ outbox: RecordKey, _ status: OutboxStatus?, at date: Date) {
        // Set under the lock, so that the gauges end up with the values of the last update. Setting a meter is fast.
        contents.withLock { contents in
            let isEmpty = status.map { $0.pendingCount == 0 && $0.deadLetterCount == 0 } ?? true
            contents[outbox] = isEmpty ? nil : status.map { Content(status: $0, oldest: $0.oldestAcceptedAt) }
            let all = contents.values
            gauges.pending.set(all.reduce(0) { $0 + $1.status.pendingCount })
            gauges.deadLetters.set(all.reduce(0) { $0 + $1.status.deadLetterCount })
            gauges.paused.set(all.reduce(0) { $0 + ($1.status.pause == nil ? 0 : 1) })
            let oldest = all.lazy.compactMap(\.oldest).min()
            gauges.oldestAge.set(oldest.map { max(0, date.timeIntervalSince($0)) } ?? 0)
        }
    }
}

extension RepositoryStep {
    fileprivate var spanName: String {
        switch self {
        case .read(let read): "read \(read.endpoint)".visible
        case .store(let operation): "\(operation.name) \(StoreOperation.system)"
        case .delivery(let entry): "process \(entry.write.endpoint)".visible
        }
    }

    fileprivate var spanKind: SpanKind {
        switch self {
        case .read: .internal
        case .store: .client
        case .delivery: .consumer
        }
    }

    fileprivate var attributes: FetchAttributes {
        switch self {
        case .read(let read):
            FetchAttributes([
                AttributeName.endpoint: .text(read.endpoint), AttributeName.readKind: .text(read.kind),
            ])
        case .store(let operation):
            FetchAttributes([
                AttributeName.storeSystem: .text(StoreOperation.system),
                AttributeName.storeOperation: .text(operation.name.description),
            ])
        case .delivery(let entry):
            FetchAttributes([
                AttributeName.messagingSystem: .text(OutboxEntry.system),
                AttributeName.messagingDestination: .text(entry.write.endpoint),
                AttributeName.method: .text(entry.write.method.rawValue),
            ])
        }
    }
}

extension StoreOperation {
    /// The `db.system.name` of a record store.
    fileprivate static let system = "inward"
}

extension OutboxEntry {
    /// The `messaging.system` of an outbox.
    fileprivate static let system = "inward"

    fileprivate var labels: [String] { [Self.system, write.endpoint] }
}

extension RepositoryRead {
    fileprivate var kind: String { isList ? "list" : "entity" }
}

extension OutboxDeliveryEnd {
    fileprivate var name: String {
        switch self {
        case .delivered: "delivered"
        case .dropped: "dropped"
        case .refused: "refused"
        case .postponed: "postponed"
        case .unsettled: "unsettled"
        }
    }

    fileprivate var error: (any Error)? {
        switch self {
        case .delivered, .dropped: nil
        case .refused(let error), .postponed(let error): error
        case .unsettled(let error): error
        }
    }
}

extension Result<RepositoryRead.Answer, RepositoryError> {
    /// The result of a read, the origin of its answer, and the kind of failure. Values that do not apply are empty.
    fileprivate var labels: (result: String, origin: String, error: String) {
        switch self {
        case .failure(let error): return ("error", "", error.category)
        case .success(let answer):
            if let reason = answer.fallbackReason { return ("fallback", "\(answer.origin)", reason.category) }
            guard answer.isHit else { return ("miss", "\(answer.origin)", "") }
            return (answer.isStale ? "stale" : "hit", "\(answer.origin)", "")
        }
    }
}
#endif
