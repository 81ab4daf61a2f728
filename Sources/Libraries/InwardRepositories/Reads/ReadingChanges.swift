public import InwardCore

extension Repository {
    /// Returns the current reading of an entity, and then a new reading after each change.
    ///
    /// ```swift
    /// for try await reading in comments.changes(of: 7) {
    ///     guard let comment = reading.value else {
    ///         print("deleted")
    ///         continue
    ///     }
    ///     print(comment.body, reading.isPending ? "(not sent yet)" : "")
    /// }
    /// ```
    ///
    /// The value is `nil` while the entity does not exist: it was deleted, its deletion is pending, or its creation was
    /// refused. The sequence continues, because a refused deletion brings the entity back. If you observe an entity by its
    /// pending identifier, the sequence follows it when the upstream assigns another one.
    ///
    /// ``ReadingChanges`` describes what counts as a change and when the sequence ends.
    ///
    /// - Parameters:
    ///   - id: The identifier. For a created entity, either the pending identifier or the upstream's.
    ///   - policy: The policy of the first reading.
    /// - Returns: the sequence. It reads nothing until the first iteration.
    public func changes(of id: Entity.ID, _ policy: ReadPolicy = .cacheFirst) -> ReadingChanges<Entity?> {
        ReadingChanges(EntityObservation(self, id), policy)
    }

    /// Returns the current reading of a list, and then a new reading after each change.
    ///
    /// ```swift
    /// for try await reading in comments.changes(in: .all) {
    ///     print(reading.value.map(\.body))
    /// }
    /// ```
    ///
    /// ``ReadingChanges`` describes what counts as a change and when the sequence ends.
    ///
    /// - Parameters:
    ///   - filter: The entities to observe.
    ///   - policy: The policy of the first reading.
    /// - Returns: the sequence. It reads nothing until the first iteration.
    public func changes(
        in filter: EntityFilter<Entity>,
        _ policy: ReadPolicy = .cacheFirst
    ) -> ReadingChanges<[Entity]> {
        ReadingChanges(ListObservation(self, filter), policy)
    }
}

/// The readings of an entity or a list in a ``Repository``: the current one, and then a new one after each change.
///
/// ```swift
/// for try await reading in comments.changes(in: .all) {
///     print(reading.value.count, "comments", reading.isStale ? "(stale)" : "")
/// }
/// ```
///
/// The first reading is an ordinary read with the policy. If it fails, the sequence throws its error.
///
/// Each later reading is the newest that the repository has, however old. The sequence skips a reading that has the same value,
/// `isPending` and `rejected` as the previous one, unless the new one is fresh and the previous one was stale or a fallback.
/// Entities are compared with `==` if they are `Equatable`, and otherwise by their records.
///
/// **Changes.** The sequence reacts to:
///
/// - writes of any repository with the same outbox, when they are accepted, delivered, refused or discarded;
/// - responses that this repository or one of its ``RepositoryPeers`` has fetched for any caller and cached in memory;
/// - invalidations. The repository then asks the upstream again, unless the policy is `.cacheOnly`.
///
/// It reacts to other processes only if they announce their writes: see ``RepositoryPeers/init(sharing:generator:)`` and
/// ``OutboxPartition``. Otherwise, their changes appear when this repository reads them from the store or the upstream.
///
/// **Slow readers.** A reader that is slower than the changes gets the newest reading and skips those in between. Nothing is
/// queued.
///
/// **End.** The sequence ends with `nil` when the task is cancelled. It throws a `RepositoryError`: `closed` when the
/// repository is closed, `unavailable` when the deadline of the task passes, or the error of a later read. An unavailable
/// upstream does not end the sequence. Each iterator observes independently, from its first reading until it ends or is
/// released.
///
/// **Lists.** A write wakes the observers of every list that may have changed: lists that contained the entity before, lists
/// whose filter matches it now, and lists that are not in memory. If only the upstream can decide what a list contains,
/// give its filter a condition that is always true. Every created or updated entity then wakes its observers. Conflicts, writes
/// with an unknown outcome, and invalidations wake the observers of all lists. If an observer is woken although nothing has
/// changed, it reads memory once and returns no reading.
///
/// - Complexity: A write takes O(n) in the number of observed lists. Reads from memory do not depend on the number of
///   observers.
public struct ReadingChanges<Value: Sendable>: AsyncSequence, Sendable {
    private let observation: any Observation<Value>
    private let policy: ReadPolicy

    init(_ observation: any Observation<Value>, _ policy: ReadPolicy) {
        self.observation = observation
        self.policy = policy
    }

    /// Creates an iterator that begins with the current reading.
    public func makeAsyncIterator() -> Iterator { Iterator(observation, policy) }

    /// An iterator over the readings.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil` after the end.
        private var observation: (any Observation<Value>)?
        private let policy: ReadPolicy
        private var last: Reading<Value>?

        fileprivate init(_ observation: any Observation<Value>, _ policy: ReadPolicy) {
            self.observation = observation
            self.policy = policy
        }

        /// Waits for the next reading.
        ///
        /// - Returns: the reading, or `nil` if the task was cancelled.
        /// - Throws: a `RepositoryError`, which ends the sequence.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<Value>? {
            guard var observation = observation.take() else { return nil }
            // At the end, releasing the observation removes its observer.
            guard let reading = try await observation.next(policy, after: last.take()) else { return nil }
            (self.observation, last) = (observation, reading)
            return reading
        }

        /// Waits for the next reading.
        ///
        /// - Returns: the reading, or `nil` if the task was cancelled.
        /// - Throws: a `RepositoryError`, which ends the sequence.
        public mutating func next() async throws(RepositoryError) -> Reading<Value>? {
            try await next(isolation: #isolation)
        }
    }
}
