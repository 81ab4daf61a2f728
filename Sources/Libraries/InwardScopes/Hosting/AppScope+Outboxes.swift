import InwardCore
public import InwardRepositories

// The outboxes of all users, for an operator of the service.

extension AppScope {
    /// Returns the pending writes and the dead letters in the store, for each user who has any.
    ///
    /// ```swift
    /// for outbox in try await app.outboxes() where outbox.status.deadLetterCount > 0 {
    ///     print(outbox.user, outbox.status.deadLetterCount)
    /// }
    /// ```
    ///
    /// - Returns: The outboxes, sorted by user name, guests first. A user can have several, one for each upstream. Those of a
    ///   shared store are sorted by upstream first.
    /// - Throws: A `RecordStoreError` if the store cannot be read, or a ``ScopeError`` if the app is closed.
    /// - Complexity: O(n) in the number of pending writes and dead letters in the store.
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
        for (upstream, outbox) in try scope.objects().sharedOutboxes.all {
            for partition in try await outbox.partitions() {
                let owner = OutboxOwner(partition: partition)
                let contents = try await outbox.partition(partition).contents()
                // The writes may have been delivered since the partitions were listed.
                guard contents.status.pendingCount > 0 || contents.status.deadLetterCount > 0 else { continue }
                outboxes.append(
                    UserOutbox(user: owner.user, isGuest: owner.isGuest, upstream: upstream, contents: contents)
                )
            }
        }
        return outboxes
    }

    /// Returns the upstreams that have pending writes or dead letters in the shared store, but that the app does not have.
    ///
    /// ```swift
    /// for upstream in try await app.unknownUpstreams() { print("Nobody delivers the writes to \(upstream).") }
    /// ```
    ///
    /// ``outboxes()`` does not list their writes. An app that has such an upstream, for example at its previous address, lists and
    /// delivers them.
    ///
    /// - Returns: The addresses of the upstreams, sorted. If an app knew the upstream by a name, `#` and the name follow. Empty if the
    ///   configuration does not share a store.
    /// - Throws: A `RecordStoreError` if the store cannot be read, or a ``ScopeError`` if the app is closed.
    /// - Complexity: O(n) in the number of pending writes and dead letters in the store.
    public func unknownUpstreams() async throws -> [String] {
        let configuration = try scope.objects().configuration
        guard let store = configuration.sharing?.store else { return [] }
        let hosted = [configuration.standardUpstream] + configuration.otherUpstreams
        let known = hosted.map { $0.upstream.nameInStore(as: $0.name) }
        return try await SharedOutbox.names(under: SharedOutboxes.prefix, in: store).filter { !known.contains($0) }
    }

    /// Sends a pending write or a dead letter of a user now, or as soon as an instance can. A refused creation is sent together with
    /// the refused changes of the entity, whichever of them is named.
    ///
    /// ```swift
    /// for outbox in try await app.outboxes() {
    ///     for letter in outbox.contents.deadLetters { try await app.retryWrite(letter.id, in: outbox) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - id: The `OutboxItem.id` of the write.
    ///   - outbox: The outbox, from ``outboxes()``.
    /// - Returns: Whether the write was still there.
    /// - Throws: A `RecordStoreError` if the store cannot be changed, or with the reason `denied` if the configuration does not share it:
    ///   then only the session of the user may change the outbox. A ``ScopeError`` if the app is closed.
    @discardableResult
    public func retryWrite(_ id: String, in outbox: UserOutbox) async throws -> Bool {
        try await partition(of: outbox).retry(id) != nil
    }

    /// Removes a pending write or a dead letter of a user permanently.
    ///
    /// ```swift
    /// for outbox in try await app.outboxes() where outbox.user == "ada" {
    ///     for letter in outbox.contents.deadLetters { try await app.discardWrite(letter.id, in: outbox) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - id: The `OutboxItem.id` of the write.
    ///   - outbox: The outbox, from ``outboxes()``.
    /// - Returns: Whether the write was still there.
    /// - Throws: As ``retryWrite(_:in:)``.
    @discardableResult
    public func discardWrite(_ id: String, in outbox: UserOutbox) async throws -> Bool {
        try await partition(of: outbox).discard(id)
    }

    private func partition(of outbox: UserOutbox) throws -> OutboxPartition {
        let owner = OutboxOwner(outbox.user, isGuest: outbox.isGuest)
        let shared = try scope.objects().sharedOutboxes.all.first { $0.upstream == outbox.upstream }?.outbox
        if let shared { return shared.partition(owner.partition) }
        throw RecordStoreError(
            .denied,
            explanation: """
                The outbox of \(outbox.user) belongs to the session of the user, because the configuration does not share the store. Change \
                it in the session.
                """
        )
    }
}

/// The outbox of a user in the store of an app, for one of the app's upstreams.
///
/// ```swift
/// for outbox in try await app.outboxes() {
///     print(outbox.user, outbox.status.pendingCount, outbox.contents.deadLetters)
/// }
/// ```
public struct UserOutbox: Hashable, Sendable {
    /// The user.
    public let user: String
    /// Whether the user has no credentials.
    public let isGuest: Bool
    /// The upstream that the writes are for.
    public let upstream: UpstreamName
    /// The pending writes and the dead letters, with the attempts so far.
    public let contents: OutboxContents

    /// The number of writes, the age of the oldest one, and whether delivery is paused.
    public var status: OutboxStatus { contents.status }
}
