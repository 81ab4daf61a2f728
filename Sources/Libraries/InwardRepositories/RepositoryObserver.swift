public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An observer of repositories, their stores and their outboxes, for metrics, logs and traces.
///
/// ```swift
/// struct MissPrinter: RepositoryObserver {
///     func readEnded(
///         _ read: RepositoryRead,
///         by policy: ReadPolicy,
///         _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
///         after duration: Duration
///     ) {
///         if case .success(let answer) = outcome, !answer.isHit { print("\(read.endpoint) took \(duration)") }
///     }
/// }
/// let comments = Repository(endpoint, upstream: upstream, observer: MissPrinter())
/// ```
///
/// Every method has a default implementation that does nothing, so implement only the ones you need. `InwardObservability` has
/// an observer that records logs, metrics and traces.
///
/// Tasks call these methods concurrently and wait for them, so return quickly. Durations are measured by the timer service of
/// the repository or outbox. Without an observer, nothing is measured.
public protocol RepositoryObserver: Sendable {
    /// Wraps a step of the work, for example in a span.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - work: The work of the step. Call it once.
    /// - Returns: the value that `work` returns.
    /// - Throws: the error of `work`.
    func surround<Value: Sendable, Failure: Error>(
        _ step: RepositoryStep,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value

    /// Called when a read of an entity or a list has ended. Pages are not reported.
    ///
    /// - Parameters:
    ///   - read: The read.
    ///   - policy: The read policy.
    ///   - outcome: The provenance of the answer, or the error that the caller gets.
    ///   - duration: The duration of the read, including all waits.
    func readEnded(
        _ read: RepositoryRead,
        by policy: ReadPolicy,
        _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
        after duration: Duration
    )

    /// Called when a read joins a request in flight for the same entity or list.
    func joined(_ read: RepositoryRead)

    /// Called when a read returns a stale answer and the repository begins to fetch a newer one in the background.
    func refreshBegan(_ read: RepositoryRead)

    /// Called when the upstream has answered a conditional request for a cached entity.
    ///
    /// - Parameters:
    ///   - endpoint: The name of the endpoint.
    ///   - isModified: Whether the upstream has another version. If not, the cached version is fresh again.
    func revalidated(_ endpoint: String, isModified: Bool)

    /// Called when an operation of a store has succeeded or failed.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - error: The failure, or `nil` if the operation succeeded.
    ///   - duration: The duration of the operation.
    func storeOperationEnded(_ operation: StoreOperation, _ error: RecordStoreError?, after duration: Duration)

    /// Called when an outbox has made writes durable.
    func writesAccepted(_ entries: [OutboxEntry])

    /// Called when an outbox has tried to deliver a write.
    ///
    /// - Parameters:
    ///   - entry: The entry. Its number of failed attempts includes this one if the outcome is `postponed`.
    ///   - end: The outcome of the attempt.
    ///   - duration: The duration of the attempt, including the work of the store.
    func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration)

    /// Called when the content of an ``Outbox`` has changed. One call may report several concurrent changes. The last call always
    /// reports the latest state.
    ///
    /// A ``SharedOutbox`` does not call it: other instances change its content as well, so only the store knows it. Read
    /// ``OutboxPartition/contents()`` when you need the numbers.
    ///
    /// - Parameters:
    ///   - outbox: The key prefix of the outbox's records.
    ///   - status: The content, or `nil` if the outbox is closed or another process has taken over.
    ///   - date: The current date, to compute the age of the oldest write.
    func outboxChanged(_ outbox: RecordKey, _ status: OutboxStatus?, at date: Date)
}

extension RepositoryObserver {
    /// Returns the result of `work`.
    ///
    /// - Throws: the error of `work`.
    public func surround<Value: Sendable, Failure: Error>(
        _ step: RepositoryStep,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await work()
    }

    /// Does nothing.
    public func readEnded(
        _ read: RepositoryRead,
        by policy: ReadPolicy,
        _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
        after duration: Duration
    ) {}
    /// Does nothing.
    public func joined(_ read: RepositoryRead) {}
    /// Does nothing.
    public func refreshBegan(_ read: RepositoryRead) {}
    /// Does nothing.
    public func revalidated(_ endpoint: String, isModified: Bool) {}
    /// Does nothing.
    public func storeOperationEnded(
        _ operation: StoreOperation,
        _ error: RecordStoreError?,
        after duration: Duration
    ) {}
    /// Does nothing.
    public func writesAccepted(_ entries: [OutboxEntry]) {}
    /// Does nothing.
    public func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration) {}
    /// Does nothing.
    public func outboxChanged(_ outbox: RecordKey, _ status: OutboxStatus?, at date: Date) {}
}

/// A step of the work that a ``RepositoryObserver`` can wrap.
///
/// ```swift
/// struct DeliveryPrinter: RepositoryObserver {
///     func surround<Value: Sendable, Failure: Error>(
///         _ step: RepositoryStep,
///         _ work: () async throws(Failure) -> Value
///     ) async throws(Failure) -> Value {
///         if case .delivery(let entry) = step { print("Sending \(entry.write)") }
///         return try await work()
///     }
/// }
/// ```
public enum RepositoryStep: Hashable, Sendable {
    /// A read of a repository, with all of its waits.
    case read(RepositoryRead)
    /// An operation of a store.
    case store(StoreOperation)
    /// An attempt to deliver a write. Its task has no current `InteractionID`.
    case delivery(OutboxEntry)
}

/// A read of a repository, for a ``RepositoryObserver``.
///
/// ```swift
/// struct CoalescingPrinter: RepositoryObserver {
///     func joined(_ read: RepositoryRead) { print("A read of the \(read) joined another.") }
/// }
/// ```
public struct RepositoryRead: Hashable, Sendable, CustomStringConvertible {
    /// The name of the endpoint.
    public let endpoint: String
    /// Whether the read is of a list and not of a single entity.
    public let isList: Bool

    /// Creates a read of a list or of a single entity.
    public init(_ endpoint: String, isList: Bool) {
        self.endpoint = endpoint
        self.isList = isList
    }

    /// The kind of read and the endpoint, such as `list of comments`.
    public var description: String { "\(isList ? "list" : "entity") of \(endpoint)" }

    /// The provenance of an answer.
    public struct Answer: Hashable, Sendable {
        /// The place that the answer came from.
        public let origin: Origin
        /// The age of the answer.
        public let age: Duration
        /// Whether the answer is stale.
        public let isStale: Bool
        /// Whether the answer contains pending writes.
        public let isPending: Bool
        /// The error that the answer replaces as a fallback, or `nil` if the answer is not a fallback.
        public let fallbackReason: RepositoryError?

        /// Whether the answer came from a cache, without waiting for the upstream.
        public var isHit: Bool { origin != .upstream && fallbackReason == nil }

        /// Creates the provenance of a reading.
        public init(_ reading: Reading<some Any>) {
            origin = reading.origin
            age = reading.age
            isStale = reading.isStale
            isPending = reading.isPending
            fallbackReason = reading.fallbackReason
        }
    }
}

/// The outcome of an attempt to deliver a write.
///
/// ```swift
/// struct SetbackPrinter: RepositoryObserver {
///     func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration) {
///         switch end {
///         case .delivered, .dropped, .unsettled: break
///         case .refused(let error): print("\(entry.write) is now a dead letter: \(error)")
///         case .postponed(let error): print("\(entry.write) is sent again: \(error)")
///         }
///     }
/// }
/// ```
public enum OutboxDeliveryEnd: Hashable, Sendable {
    /// The upstream has done the write.
    case delivered
    /// The write was dropped in favor of the upstream's version.
    case dropped
    /// The upstream refused the write, which is now a dead letter.
    case refused(RepositoryError)
    /// The upstream did not do the write, or the outcome is not known. The outbox sends the write again later.
    case postponed(RepositoryError)
    /// The store failed. The outbox sends or settles the write later.
    case unsettled(RecordStoreError)
}
