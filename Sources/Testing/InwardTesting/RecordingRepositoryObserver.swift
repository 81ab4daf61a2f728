public import InwardCore
public import InwardRepositories
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An observer of repositories, stores and outboxes that records all events.
///
/// ```swift
/// let observer = RecordingRepositoryObserver()
/// let upstream = Upstream(baseURL: CommentClient.baseURL, dataFetcher: StubDataFetcher(failing: .unreachable))
/// let outbox = Outbox(
///     upstream: upstream,
///     store: InMemoryRecordStore(),
///     generator: SystemRandomNumberGenerator(),
///     observer: observer,
///     errorHandler: RecordingErrorHandler()
/// )
/// try await outbox.open(handlers: [RecordingOutboxHandler()])
/// print(observer.descriptions)
/// ```
public final class RecordingRepositoryObserver: RepositoryObserver {
    private let log = Mutex<[Event]>([])

    /// Creates an observer that has recorded nothing.
    public init() {}

    /// The events so far, in order.
    public var events: [Event] { log.withLock(\.self) }

    /// The events so far as text, in order.
    public var descriptions: [String] { events.map(\.description) }

    private func record(_ event: Event) { log.withLock { $0.append(event) } }

    /// Records the beginning of a step.
    ///
    /// - Throws: The error of `work`.
    public func surround<Value: Sendable, Failure: Error>(
        _ step: RepositoryStep,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        record(.began(step))
        return try await work()
    }

    /// Records the end of a read.
    public func readEnded(
        _ read: RepositoryRead,
        by policy: ReadPolicy,
        _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
        after duration: Duration
    ) {
        record(.readEnded(read, by: policy, outcome, after: duration))
    }

    /// Records that a read joined a request in flight.
    public func joined(_ read: RepositoryRead) { record(.joined(read)) }

    /// Records a refresh in the background.
    public func refreshBegan(_ read: RepositoryRead) { record(.refreshBegan(read)) }

    /// Records a revalidation.
    public func revalidated(_ endpoint: String, isModified: Bool) {
        record(.revalidated(endpoint, isModified: isModified))
    }

    /// Records the end of a store operation.
    public func storeOperationEnded(
        _ operation: StoreOperation,
        _ error: RecordStoreError?,
        after duration: Duration
    ) {
        record(.storeOperationEnded(operation, error, after: duration))
    }

    /// Records accepted writes.
    public func writesAccepted(_ entries: [OutboxEntry]) { record(.writesAccepted(entries)) }

    /// Records the end of an attempt to deliver a write.
    public func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration) {
        record(.deliveryEnded(entry, end, after: duration))
    }

    /// Records the content of an outbox.
    public func outboxChanged(_ outbox: RecordKey, _ status: OutboxStatus?, at date: Date) {
        record(.outboxChanged(outbox, status, at: date))
    }
}

extension RecordingRepositoryObserver {
    /// An event that an observer receives.
    public enum Event: Hashable, Sendable {
        /// A step has begun.
        case began(RepositoryStep)
        /// A read has ended.
        case readEnded(
            RepositoryRead,
            by: ReadPolicy,
            Result<RepositoryRead.Answer, RepositoryError>,
            after: Duration
        )
        /// A read joined a request in flight.
        case joined(RepositoryRead)
        /// A refresh in the background has begun.
        case refreshBegan(RepositoryRead)
        /// A cached response was revalidated with the upstream.
        case revalidated(String, isModified: Bool)
        /// A store operation has ended.
        case storeOperationEnded(StoreOperation, RecordStoreError?, after: Duration)
        /// Writes are durable.
        case writesAccepted([OutboxEntry])
        /// An attempt to deliver a write has ended.
        case deliveryEnded(OutboxEntry, OutboxDeliveryEnd, after: Duration)
        /// The content of an outbox has changed.
        case outboxChanged(RecordKey, OutboxStatus?, at: Date)
    }
}

extension RecordingRepositoryObserver.Event: CustomStringConvertible {
    /// The event as text, such as `entity of comments ended: memory, stale, after 0.0 seconds`.
    public var description: String {
        switch self {
        case .began(.read(let read)): "\(read) began"
        case .began(.store(let operation)): "store: \(operation) began"
        case .began(.delivery(let entry)): "delivery of \(entry.write.path) began"
        case .readEnded(let read, _, .success(let answer), let duration):
            "\(read) ended: \(Self.words(answer)), after \(duration)"
        case .readEnded(let read, _, .failure(let error), let duration):
            "\(read) failed: \(error.reason), after \(duration)"
        case .joined(let read): "\(read) joined"
        case .refreshBegan(let read): "\(read) is refreshed"
        case .revalidated(let endpoint, let isModified):
            "\(endpoint) revalidated: \(isModified ? "modified" : "not modified")"
        case .storeOperationEnded(let operation, let error, let duration):
            "store: \(operation) \(error.map { "failed: \($0.reason)," } ?? "ended") after \(duration)"
        case .writesAccepted(let entries): "accepted \(entries.map(\.write.path).joined(separator: ", "))"
        case .deliveryEnded(let entry, let end, let duration):
            "delivery of \(entry.write.path) ended: \(Self.words(end)), after \(duration)"
        case .outboxChanged(_, let status, let date):
            status.map { status in
                let age = status.oldestAcceptedAt.map { ", the oldest \(date.timeIntervalSince($0)) seconds old" } ?? ""
                return "outbox: \(status.pendingCount) pending\(age), \(status.deadLetterCount) dead letters"
            } ?? "outbox: closed"
        }
    }

    private static func words(_ answer: RepositoryRead.Answer) -> String {
        [
            "\(answer.origin)", answer.isStale ? "stale" : nil, answer.isPending ? "pending" : nil,
            answer.fallbackReason.map { "in place of \($0.reason)" },
        ]
        .compactMap(\.self).joined(separator: ", ")
    }

    private static func words(_ end: OutboxDeliveryEnd) -> String {
        switch end {
        case .delivered: "delivered"
        case .dropped: "dropped"
        case .refused(let error): "refused, \(error.reason)"
        case .postponed(let error): "postponed, \(error.reason)"
        case .unsettled(let error): "unsettled, \(error.reason)"
        }
    }
}
