import InwardCore
import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AppScope {
    /// Delivers the pending writes of all users once, whether or not the users are signed in.
    ///
    /// ```swift
    /// let outcomes = try await app.deliverPendingWrites { user in .fixed(.bearer("a token of \(user)")) }
    /// for outcome in outcomes { print(outcome.user, outcome.ending) }
    /// ```
    ///
    /// Call it when the service starts, because it may take a while until the users sign in again. To repeat it, use
    /// ``keepDelivering(every:within:usersAtATime:as:)``. An open session delivers its user's writes without these calls.
    ///
    /// The method does not wait for writes that become due after the limit, for example because the upstream asked to wait. It
    /// skips an outbox that another process owns, because that process delivers the writes.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait for the writes of one user.
    ///   - usersAtATime: The number of users whose writes are delivered concurrently, at least 1.
    ///   - credentials: Returns the credentials of a user, or `nil` or ``SessionCredentials/none`` to skip the user. It is not
    ///     called for guests, who send none.
    /// - Returns: The outcome for each user who has pending writes, sorted by name, guests first.
    /// - Throws: A `RecordStoreError` if the store cannot be read, a ``ScopeError`` if the app is closed or shutting down, or a
    ///   `CancellationError` if the task is cancelled. An error does not undo deliveries.
    /// - Complexity: O(n) in the number of pending writes in the store.
    @discardableResult
    public func deliverPendingWrites(
        within limit: Duration = .seconds(30),
        usersAtATime: Int = 8,
        as credentials: @escaping @Sendable (String) -> SessionCredentials?
    ) async throws -> [DeliveryOutcome] {
        let owners = try await outboxOwners(withDeadLetters: false)
        var outcomes: [DeliveryOutcome] = []
        try await withThrowingTaskGroup(of: DeliveryOutcome.self) { group in
            for (number, owner) in owners.enumerated() {
                if number >= max(1, usersAtATime), let outcome = try await group.next() { outcomes.append(outcome) }
                group.addTask {
                    let credentials = owner.isGuest ? SessionCredentials.none : credentials(owner.user)
                    return try await deliver(for: owner, credentials, within: limit)
                }
            }
            for try await outcome in group { outcomes.append(outcome) }
        }
        return outcomes.sorted { $0.owner < $1.owner }
    }

    /// Delivers the pending writes of all users in rounds, until the task is cancelled or the app closes or shuts down.
    ///
    /// ```swift
    /// let delivering = Task {
    ///     try await app.keepDelivering(every: .seconds(60)) { user in .fixed(.bearer("a token of \(user)")) }
    /// }
    /// ```
    ///
    /// If the store cannot be read, the error handler receives the error, and the next round tries again.
    ///
    /// - Parameters:
    ///   - interval: The time from the end of a round to the start of the next.
    ///   - limit: The maximum time to wait for the writes of one user in a round.
    ///   - usersAtATime: The number of users whose writes are delivered concurrently, at least 1.
    ///   - credentials: Returns the credentials of a user, or `nil` to skip the user. It is not called for guests.
    /// - Throws: A `CancellationError` if the task is cancelled.
    public func keepDelivering(
        every interval: Duration = .seconds(60),
        within limit: Duration = .seconds(30),
        usersAtATime: Int = 8,
        as credentials: @escaping @Sendable (String) -> SessionCredentials?
    ) async throws {
        while isAcceptingWork, let app = try? scope.objects() {
            do {
                try await deliverPendingWrites(within: limit, usersAtATime: usersAtATime, as: credentials)
            } catch let error as RecordStoreError {
                try Task.checkCancellation()
                guard isOpen else { return }
                app.configuration.errorHandler.handle(error)
            } catch is ScopeError {
                return
            }
            try await scope.idle(for: interval, on: app.timer)
        }
    }

    /// Delivers the writes of one user.
    private func deliver(
        for owner: OutboxOwner,
        _ credentials: SessionCredentials?,
        within limit: Duration
    ) async throws -> DeliveryOutcome {
        let configuration = try scope.objects().configuration
        // Skips a user without credentials, because such a session would deliver the writes of a guest with the same name.
        guard let credentials, credentials.areNone == owner.isGuest else { return DeliveryOutcome(owner, .passedOver) }
        guard configuration.sharing == nil else {
            configuration.errorHandler.handle(
                RecordStoreError(
                    .denied,
                    explanation: """
                        The writes of \(owner.user) were accepted before the store was shared: deliver them with a configuration that \
                        does not share it.
                        """
                )
            )
            return DeliveryOutcome(owner, .failed)
        }
        do {
            var (waitingCount, isDeliverable) = (0, false)
            for (_, place) in configuration.places(of: owner.key) {
                let contents = try await OutboxContents(of: place.records, under: place.outboxPrefix)
                waitingCount += contents.pending.count
                let end = place.now().addingTimeInterval(limit / .seconds(1))
                isDeliverable = isDeliverable || contents.isDeliverable(by: end)
            }
            guard isDeliverable else { return DeliveryOutcome(owner, .waiting(waitingCount)) }
            // Opens the session without owning the outbox, so that it does not wait for another process.
            let session = try await opened(owner.user, credentials, .show) { _, _ throws(Never) in }.get()
            let result = await Result { try await session.deliverUnlessOwned(within: limit) }
            do {
                try await session.close()
            } catch {
                configuration.errorHandler.handle(error)
            }
            return DeliveryOutcome(owner, try result.get())
        } catch {
            // A cancellation or a shutdown ends the whole round.
            try Task.checkCancellation()
            guard isAcceptingWork else { throw error }
            // If the credentials were refused, the handler has already received the error: the session closed by itself, which
            // cancelled this delivery.
            if let error = error as? RecordStoreError, error.reason != .cancelled {
                configuration.errorHandler.handle(error)
            }
            return DeliveryOutcome(owner, .failed)
        }
    }

    /// Returns the users who have pending writes, and those who have only dead letters if `withDeadLetters` is `true`.
    func outboxOwners(withDeadLetters: Bool) async throws -> [OutboxOwner] {
        let configuration = try scope.objects().configuration
        var owners: Set<OutboxOwner> = []
        for isGuest in [true, false] {
            for (_, place) in configuration.places(of: OutboxOwner.group(isGuest)) {
                let prefix = place.outboxPrefix
                for (key, _) in try await place.records.records(under: prefix) {
                    let components = key.components.dropFirst(prefix.components.count)
                    guard let user = components.first, let part = components.dropFirst().first else { continue }
                    guard part == "entries" || (withDeadLetters && part == "dead") else { continue }
                    owners.insert(OutboxOwner(user, isGuest: isGuest))
                }
            }
        }
        return owners.sorted()
    }
}

/// The outcome of one round of delivery for a user.
///
/// ```swift
/// for outcome in try await app.deliverPendingWrites(as: { _ in .fixed(.bearer(token)) }) {
///     switch outcome.ending {
///     case .done, .owned: continue
///     case .waiting(let count): print("\(outcome.user) has \(count) pending writes.")
///     case .passedOver, .failed: print("The writes of \(outcome.user) were not sent.")
///     }
/// }
/// ```
public struct DeliveryOutcome: Hashable, Sendable {
    /// How the round ended.
    public enum Ending: Hashable, Sendable {
        /// All writes were delivered or refused.
        case done
        /// Writes are still pending. The associated value is their number.
        case waiting(Int)
        /// Another process owns an outbox of the user, and delivers its writes. The associated value describes the process.
        case owned(by: String)
        /// The user was skipped, because no credentials were given.
        case passedOver
        /// The store could not be read, or the credentials were refused. The error handler has received the reason.
        case failed
    }

    let owner: OutboxOwner
    /// How the round ended.
    public let ending: Ending

    /// The user.
    public var user: String { owner.user }
    /// Whether the user has no credentials.
    public var isGuest: Bool { owner.isGuest }

    init(_ owner: OutboxOwner, _ ending: Ending) {
        (self.owner, self.ending) = (owner, ending)
    }
}

/// The owner of an outbox.
struct OutboxOwner: Hashable, Comparable, Sendable {
    let user: String
    let isGuest: Bool

    init(_ user: String, isGuest: Bool) {
        (self.user, self.isGuest) = (user, isGuest)
    }

    /// The owner of a partition of a shared outbox.
    init(partition: String) {
        let name = partition.drop { $0 != "/" }.dropFirst()
        self.init(String(name), isGuest: partition.hasPrefix("guests/"))
    }

    /// The name of the owner's partition of a shared outbox.
    var partition: String { key.components.joined(separator: "/") }

    /// The prefix of the owner's keys in a store.
    var key: RecordKey { Self.group(isGuest).appending(user) }

    static func group(_ isGuest: Bool) -> RecordKey { [isGuest ? "guests" : "users"] }

    static func < (first: Self, second: Self) -> Bool {
        first.isGuest == second.isGuest ? first.user < second.user : first.isGuest
    }
}

extension SessionScope {
    /// Delivers the pending writes to all upstreams, unless another process owns the outbox.
    fileprivate func deliverUnlessOwned(within limit: Duration) async throws -> DeliveryOutcome.Ending {
        try await scope.run { objects async throws(RecordStoreError) -> DeliveryOutcome.Ending in
            let deadline = Deadline(in: limit, on: objects.timer)
            let parts = try await objects.repositories.outboxes.concurrently { outbox async throws(RecordStoreError) in
                if let owner = try await outbox.openUnlessOwned(delivering: true) {
                    return (owner: String?.some(owner), count: 0)
                }
                return (nil, try await outbox.deliver(by: deadline))
            }
            if let owner = parts.compactMap(\.owner).first { return .owned(by: owner) }
            let count = parts.reduce(0) { $0 + $1.count }
            return count == 0 ? .done : .waiting(count)
        }.get()
    }
}

extension [any RepositoryOutbox] {
    /// Runs work with each outbox concurrently, so that an upstream that does not answer does not delay the others.
    ///
    /// - Returns: The results, in any order.
    /// - Throws: The `RecordStoreError` of one of them, after all have ended.
    func concurrently<Value: Sendable>(
        _ work: @escaping @Sendable (any RepositoryOutbox) async throws(RecordStoreError) -> Value
    ) async throws(RecordStoreError) -> [Value] {
        let results = await withTaskGroup(of: Result<Value, RecordStoreError>.self) { group in
            for outbox in self {
                group.addTask {
                    await Result(awaiting: { () async throws(RecordStoreError) in try await work(outbox) })
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        return try results.map { result throws(RecordStoreError) in try result.get() }
    }
}

extension OutboxContents {
    /// Returns whether at least one write is due by a time.
    fileprivate func isDeliverable(by end: Date) -> Bool {
        if let pause, pause.until > end { return false }
        return pending.contains { item in
            switch item.state {
            case .undeliverable, .refused: false
            case .waiting, .sending, .outcomeUnknown: item.nextAttempt.map { $0 <= end } ?? true
            }
        }
    }
}
