import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AppScope {
    /// Delivers the pending writes of all users once, whether or not they are signed in.
    ///
    ///     let outcomes = try await app.deliverPendingWrites { user in
    ///         .refreshing { try await tokens.current(of: user) }
    ///     }
    ///
    /// Call it when the service has started, because nobody may sign in for a while. To repeat it, use
    /// ``keepDelivering(every:within:usersAtATime:as:)``. A session that is open delivers its own writes without these calls.
    ///
    /// Writes wait as their outbox decides, for example because the upstream asked for it. Writes that are not due within the limit are
    /// not waited for, and neither are those whose outbox another process owns, which delivers them.
    ///
    /// - Parameters:
    ///   - limit: How long to wait for the writes of one user at most.
    ///   - usersAtATime: For how many users to deliver at a time, at least 1.
    ///   - credentials: Returns the credentials of a user; `nil` or `.none` to pass the user over. It is not asked about guests,
    ///     which send none.
    /// - Returns: the outcome for each user who has pending writes, in the order of the users' names, guests first.
    /// - Throws: a `RecordStoreError` if the store cannot be read; a ``ScopeError`` if the app is closed or shuts down; a
    ///   `CancellationError` if the task is cancelled. What is delivered by then is delivered.
    /// - Complexity: reads all pending writes in the store.
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

    /// Delivers the pending writes of all users, again and again, until the task is cancelled or the app closes or shuts
    /// down.
    ///
    ///     try await withThrowingTaskGroup { group in
    ///         group.addTask { try await app.keepDelivering { .refreshing(tokens.provider(of: $0)) } }
    ///         group.addTask { try await server.run() }
    ///         try await group.waitForAll()
    ///     }
    ///
    /// A store that cannot be read is reported to the error handler, and tried again after the interval.
    ///
    /// - Parameters:
    ///   - interval: The time from the end of a round to the next.
    ///   - limit: How long to wait for the writes of one user at most.
    ///   - usersAtATime: For how many users to deliver at a time, at least 1.
    ///   - credentials: Returns the credentials of a user; `nil` to pass the user over.
    /// - Throws: a `CancellationError` if the task is cancelled.
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

    /// Returns what waits in the store: the pending writes and the dead letters of each user who has any.
    ///
    ///     for outbox in try await app.outboxes() where outbox.status.deadLetterCount > 0 {
    ///         print(outbox.user, outbox.status.deadLetterCount)
    ///     }
    ///
    /// - Returns: the outboxes, in the order of the users' names, guests first. A user has one for each upstream with such writes.
    /// - Throws: a `RecordStoreError` if the store cannot be read; a ``ScopeError`` if the app is closed.
    /// - Complexity: reads all pending writes and dead letters in the store.
    public func outboxes() async throws -> [UserOutbox] {
        let configuration = try scope.objects().configuration
        var outboxes: [UserOutbox] = []
        for owner in try await outboxOwners(withDeadLetters: true) {
            for (upstream, place) in configuration.places(of: owner.key) {
                let contents = try await OutboxContents(of: place.records, under: place.outboxPrefix)
                guard contents.status.pendingCount > 0 || contents.status.deadLetterCount > 0 else { continue }
                outboxes.append(
                    UserOutbox(user: owner.user, isGuest: owner.isGuest, upstream: upstream, contents: contents)
                )
            }
        }
        return outboxes
    }

    /// Delivers the writes of one user.
    private func deliver(
        for owner: OutboxOwner,
        _ credentials: SessionCredentials?,
        within limit: Duration
    ) async throws -> DeliveryOutcome {
        let configuration = try scope.objects().configuration
        // A session without credentials would deliver the writes of a guest of the same name.
        guard let credentials, credentials.areNone == owner.isGuest else { return DeliveryOutcome(owner, .passedOver) }
        do {
            var (waitingCount, isDeliverable) = (0, false)
            for (_, place) in configuration.places(of: owner.key) {
                let contents = try await OutboxContents(of: place.records, under: place.outboxPrefix)
                waitingCount += contents.pending.count
                let end = place.now().addingTimeInterval(limit / .seconds(1))
                isDeliverable = isDeliverable || contents.isDeliverable(by: end)
            }
            guard isDeliverable else { return DeliveryOutcome(owner, .waiting(waitingCount)) }
            // Shown and not delivered, so that opening the session does not wait for another process.
            let session = try await opened(owner.user, credentials, .show) { _, _ throws(Never) in }.get()
            let result = await Result { try await session.deliverUnlessOwned(within: limit) }
            do {
                try await session.close()
            } catch {
                configuration.errorHandler.handle(error)
            }
            return DeliveryOutcome(owner, try result.get())
        } catch {
            // Whatever stopped it, this round has ended.
            try Task.checkCancellation()
            guard isAcceptingWork else { throw error }
            // A session whose credentials were refused has closed by itself, and its work was cancelled.
            if let error = error as? RecordStoreError, error.reason != .cancelled {
                configuration.errorHandler.handle(error)
            }
            return DeliveryOutcome(owner, .failed)
        }
    }

    /// Returns the users who have pending writes, or dead letters if these count too.
    private func outboxOwners(withDeadLetters: Bool) async throws -> [OutboxOwner] {
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

/// What became of the pending writes of a user in one round of delivery.
public struct DeliveryOutcome: Hashable, Sendable {
    /// What became of the writes.
    public enum Ending: Hashable, Sendable {
        /// All writes are delivered or refused.
        case done
        /// A number of writes is still pending.
        case waiting(Int)
        /// Another process owns the outbox, or that of one of the upstreams, and delivers it. The associated value describes it.
        case owned(by: String)
        /// There are no credentials for the user.
        case passedOver
        /// The store could not be read, or the credentials were refused. The error handler has received the reason.
        case failed
    }

    let owner: OutboxOwner
    /// What became of the writes.
    public let ending: Ending

    /// The user.
    public var user: String { owner.user }
    /// Whether the user has no credentials.
    public var isGuest: Bool { owner.isGuest }

    init(_ owner: OutboxOwner, _ ending: Ending) {
        (self.owner, self.ending) = (owner, ending)
    }
}

/// The outbox of a user in the store of an app, for one of the app's upstreams.
public struct UserOutbox: Hashable, Sendable {
    /// The user.
    public let user: String
    /// Whether the user has no credentials.
    public let isGuest: Bool
    /// The upstream that the writes are for.
    public let upstream: UpstreamName
    /// The pending writes and the dead letters, with the attempts so far.
    public let contents: OutboxContents

    /// The numbers of writes, the age of the oldest one, and whether delivery is paused.
    public var status: OutboxStatus { contents.status }
}

/// The owner of an outbox.
struct OutboxOwner: Hashable, Comparable, Sendable {
    let user: String
    let isGuest: Bool

    init(_ user: String, isGuest: Bool) {
        (self.user, self.isGuest) = (user, isGuest)
    }

    /// The owner in the keys of a store.
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
                if let owner = try await outbox.openUnlessOwned() { return (owner: String?.some(owner), count: 0) }
                await outbox.drain(by: deadline)
                return (nil, try await outbox.contents().pending.count)
            }
            if let owner = parts.compactMap(\.owner).first { return .owned(by: owner) }
            let count = parts.reduce(0) { $0 + $1.count }
            return count == 0 ? .done : .waiting(count)
        }.get()
    }
}

extension [Outbox] {
    /// Returns what work with each outbox gives, in any order. The outboxes are worked with at the same time, so that an upstream that
    /// does not answer takes no time from the others.
    ///
    /// - Throws: a `RecordStoreError` of one of them, when all have ended.
    func concurrently<Value: Sendable>(
        _ work: @escaping @Sendable (Outbox) async throws(RecordStoreError) -> Value
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
    /// Returns whether a write is sent by a time.
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
