public import InwardCore

extension Repository {
    /// Returns the readings of an entity: the current one at once, and then another one for each change.
    ///
    ///     for try await reading in comments.changes(of: 7) {
    ///         guard let comment = reading.value else { return close() }
    ///         show(comment, isPending: reading.isPending)
    ///     }
    ///
    /// The value is `nil` while there is no such entity: it was deleted, its deletion is pending, or its creation was refused.
    /// The sequence goes on, because a refused deletion brings the entity back. An identifier of a pending creation keeps
    /// naming the entity after the upstream has given it another one.
    ///
    /// See ``ReadingChanges`` for what counts as a change, and when the sequence ends.
    ///
    /// - Parameters:
    ///   - id: The identifier. For an entity whose creation is pending, either the pending one or the upstream's.
    ///   - policy: The policy of the first reading.
    /// - Returns: the readings. Nothing is read before the first one is asked for.
    public func changes(of id: Entity.ID, _ policy: ReadPolicy = .cacheFirst) -> ReadingChanges<Entity?> {
        ReadingChanges(EntityObservation(self, id), policy)
    }

    /// Returns the readings of the entities that match a filter: the current one at once, and then another one for each change.
    ///
    ///     for try await reading in comments.changes(in: .all) { show(reading.value) }
    ///
    /// See ``ReadingChanges`` for what counts as a change, and when the sequence ends.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - policy: The policy of the first reading.
    /// - Returns: the readings. Nothing is read before the first one is asked for.
    public func changes(
        in filter: EntityFilter<Entity>,
        _ policy: ReadPolicy = .cacheFirst
    ) -> ReadingChanges<[Entity]> {
        ReadingChanges(ListObservation(self, filter), policy)
    }
}

/// The readings of an entity or a list in a ``Repository``: the current one at once, and then another one for each change.
///
///     for try await reading in comments.changes(in: .all, .cacheFirst) {
///         show(reading.value, isPending: reading.isPending)
///     }
///
/// The first reading is an ordinary read with the policy, and the sequence throws its error. Each later reading is the newest
/// that the repository knows, however old. It differs from the one before it in the value, in `isPending` or in `rejected`, or
/// it is fresh after one that was stale or a fallback. Entities are compared with `==` if they are `Equatable`, and otherwise
/// by their records.
///
/// Changes are:
/// - writes when they are accepted, settled, or refused, from any repository with the same outbox;
/// - responses that this repository or one of its ``RepositoryPeers`` has fetched, for whatever reader, and memory keeps;
/// - invalidations. The upstream is then asked again, unless the policy is `.cacheOnly`.
///
/// What another process writes or fetches is seen when this repository reads it.
///
/// A reader that is slower than the changes gets the newest reading and skips those in between; nothing is queued. The
/// sequence ends with `nil` when the task is cancelled. It throws a `RepositoryError`: `closed` when the repository is closed,
/// `unavailable` when the deadline of the task passes, and the error of a later read, except that it continues while the
/// upstream is unavailable. Each iterator observes on its own, from its first reading until it has ended or is released.
///
/// A write wakes the observers of its entity, and those of the lists that may have changed: lists that contained the entity before or
/// contain it now, by the condition of their filter, and lists that memory does not keep. If only the upstream can
/// decide what a list contains, give its filter a condition that is always true; its observers are then woken by every entity that it
/// may lack. Conflicts, writes with an unknown outcome, and invalidations wake the observers of all lists. An observer that is woken
/// without a change reads memory once, and gives no reading.
///
/// - Complexity: A write takes O(n) in the number of observed lists, and asks for a reading only where one may have changed. Reads from
///   memory do not depend on observers.
public struct ReadingChanges<Value: Sendable>: AsyncSequence, Sendable {
    private let observation: any Observation<Value>
    private let policy: ReadPolicy

    init(_ observation: any Observation<Value>, _ policy: ReadPolicy) {
        self.observation = observation
        self.policy = policy
    }

    /// Creates an iterator, which begins with the current reading.
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
        /// - Returns: the reading; `nil` when the task is cancelled.
        /// - Throws: a `RepositoryError`, after which the sequence has ended.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<Value>? {
            guard var observation = observation.take() else { return nil }
            // If this is the end, the observation is released with its observer.
            guard let reading = try await observation.next(policy, after: last.take()) else { return nil }
            (self.observation, last) = (observation, reading)
            return reading
        }

        /// Waits for the next reading.
        ///
        /// - Returns: the reading; `nil` when the task is cancelled.
        /// - Throws: a `RepositoryError`, after which the sequence has ended.
        public mutating func next() async throws(RepositoryError) -> Reading<Value>? {
            try await next(isolation: #isolation)
        }
    }
}
