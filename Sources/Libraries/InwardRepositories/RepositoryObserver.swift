public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An observer of repositories, their stores, and outboxes.
///
///     struct MissPrinter: RepositoryObserver {
///         func readEnded(
///             _ read: RepositoryRead,
///             by policy: ReadPolicy,
///             _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
///             after duration: Duration
///         ) {
///             if case .success(let answer) = outcome, !answer.isHit { print("\(read.endpoint) took \(duration)") }
///         }
///     }
///     let comments = Repository(.comments, upstream: upstream, observer: MissPrinter())
///
/// Every method has a default implementation that does nothing, so implement only those you need. Methods are called from many
/// tasks concurrently and delay the work, so return quickly. Durations are those of the repository's or outbox's timer service.
/// Without an observer, nothing is measured.
public protocol RepositoryObserver: Sendable {
    /// Wraps a step of the work, for example in a span.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - work: Does the step. Call it once.
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
    ///   - outcome: Where the caller's answer came from, or the caller's error.
    ///   - duration: The duration, including all waits.
    func readEnded(
        _ read: RepositoryRead,
        by policy: ReadPolicy,
        _ outcome: Result<RepositoryRead.Answer, RepositoryError>,
        after duration: Duration
    )

    /// Called when a read joins a request for the same entity or list that is under way.
    func joined(_ read: RepositoryRead)

    /// Called when a stale answer is given and a newer one is fetched in the background.
    func refreshBegan(_ read: RepositoryRead)

    /// Called when the upstream was asked whether there is another version than the one in the cache.
    ///
    /// - Parameters:
    ///   - endpoint: The name of the endpoint.
    ///   - isModified: Whether there is; otherwise, the cached version is fresh again.
    func revalidated(_ endpoint: String, isModified: Bool)

    /// Called when a store has done an operation or failed to do it.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - error: The failure; `nil` for none.
    ///   - duration: The duration of the operation.
    func storeOperationEnded(_ operation: StoreOperation, _ error: RecordStoreError?, after duration: Duration)

    /// Called when an outbox has made writes durable.
    func writesAccepted(_ entries: [OutboxEntry])

    /// Called when an outbox has tried to deliver a write.
    ///
    /// - Parameters:
    ///   - entry: The entry, with the number of failed attempts so far, this one included.
    ///   - end: What became of it.
    ///   - duration: The duration of the attempt, including that of the store.
    func deliveryEnded(_ entry: OutboxEntry, _ end: OutboxDeliveryEnd, after duration: Duration)

    /// Called when the content of an outbox has changed. Concurrent changes are reported by one call, and the last call is always
    /// about the last state.
    ///
    /// - Parameters:
    ///   - outbox: The key prefix of the outbox's records.
    ///   - status: What is in it; `nil` if it is closed, or another process has taken over.
    ///   - date: The current date, from which the age of the oldest write follows.
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
public enum RepositoryStep: Hashable, Sendable {
    /// A read of a repository, with all of its waits.
    case read(RepositoryRead)
    /// An operation of a store.
    case store(StoreOperation)
    /// An attempt to deliver a write, which belongs to no interaction.
    case delivery(OutboxEntry)
}

/// A read of a repository, for a ``RepositoryObserver``.
public struct RepositoryRead: Hashable, Sendable, CustomStringConvertible {
    /// The name of the endpoint.
    public let endpoint: String
    /// Whether it reads a list; otherwise, a single entity.
    public let isList: Bool

    /// Creates a read of a list or of a single entity.
    public init(_ endpoint: String, isList: Bool) {
        self.endpoint = endpoint
        self.isList = isList
    }

    /// What is read, as text.
    public var description: String { "\(isList ? "list" : "entity") of \(endpoint)" }

    /// Where the answer to a read came from.
    public struct Answer: Hashable, Sendable {
        /// Where the answer came from.
        public let origin: Origin
        /// The time since the upstream gave the answer.
        public let age: Duration
        /// Whether the answer is older than the endpoint considers fresh.
        public let isStale: Bool
        /// Whether the answer contains writes that the upstream has not taken yet.
        public let isPending: Bool
        /// The error in whose place the answer was given; `nil` if it is the requested answer.
        public let fallbackReason: RepositoryError?

        /// Whether the answer came from a cache, without waiting for the upstream.
        public var isHit: Bool { origin != .upstream && fallbackReason == nil }

        /// Takes the provenance from a reading.
        public init(_ reading: Reading<some Any>) {
            origin = reading.origin
            age = reading.age
            isStale = reading.isStale
            isPending = reading.isPending
            fallbackReason = reading.fallbackReason
        }
    }
}

/// What became of an attempt to deliver a write.
public enum OutboxDeliveryEnd: Hashable, Sendable {
    /// The upstream has done the write.
    case delivered
    /// The upstream has another version, which counts.
    case dropped
    /// The upstream refused the write, which is a dead letter now.
    case refused(RepositoryError)
    /// The upstream did not do the write, or it is not known whether it did. The write is sent again later.
    case postponed(RepositoryError)
    /// The store failed. The write is sent or settled later.
    case unsettled(RecordStoreError)
}
