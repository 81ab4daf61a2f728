public import InwardCore
import Synchronization

/// The cached lists of a repository. Readers on different threads do not wait for each other.
///
/// It never releases the closure of a filter while it holds a lock, because that may release anything that the closure captures.
@usableFromInline
final class CachedLists<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    @usableFromInline typealias Filter = EntityFilter<Entity>
    @usableFromInline typealias Answer = KeptAnswer<EntityList<Entity>>
    private typealias Lists = SieveCache<Filter, CachedList<Entity>>

    private let lists: Mutex<Lists>
    /// What the threads have read from ``lists`` since their last change.
    @usableFromInline let copies = StripedMutex(ListCopies<Entity>())

    init(_ limit: MemoryLimit) {
        lists = Mutex(Lists(limit: limit.bytes, countLimit: limit.count))
    }

    // MARK: Reading

    /// Returns the list of a filter, if a thread of the same stripe has read it since the last change.
    @inlinable
    func copy(of filter: Filter) -> Answer? { copies.withLock { $0.answer(for: filter) } }

    /// Returns the list of a filter, and whether it is in the store. If it is, keeps a copy for the next reader.
    ///
    /// Only this read keeps the list from being evicted. Every list in use gets one after each change, and only changes evict lists.
    func read(_ filter: Filter) -> (answer: Answer, isStored: Bool)? {
        lists.withLock { lists in
            guard let list = lists.value(for: filter) else { return nil }
            let current = list.current
            // A list that is to be stored again gets no copy, so that its readers come here until it is stored. The copy is kept
            // under the filter of the list, because the list outlives the copy.
            if current.isStored { copies.withLock { $0.insert(current.answer, for: list.filter) } }
            return current
        }
    }

    /// Returns the list of a filter, without marking it as used.
    func peek(_ filter: Filter) -> CachedList<Entity>? { lists.withLock { $0.peek(filter) } }

    /// All lists, in no particular order.
    var all: [CachedList<Entity>] { lists.withLock { lists in lists.keys.compactMap { lists.peek($0) } } }

    // MARK: Changing

    /// Inserts a list.
    func insert(_ list: CachedList<Entity>) {
        _ = change { $0.insert(list, for: list.filter, cost: list.current.answer.value.byteCount) }
    }

    /// Removes the lists that satisfy a condition.
    func removeAll(where condition: (CachedList<Entity>) -> Bool = { _ in true }) {
        _ = change { $0.removeAll { _, list in condition(list) } }
    }

    /// Records that no list is in the store any more.
    func noteRemovedFromStore() {
        change { lists in
            for filter in lists.keys { lists.peek(filter)?.noteStored(false) }
        }
    }

    /// Updates the lists that satisfy a condition, and their costs.
    ///
    /// - Parameters:
    ///   - observers: The observers of lists.
    ///   - condition: Returns whether to update a list.
    ///   - update: Updates a list, or returns `false` to leave it unchanged.
    /// - Returns: the filters of the lists that have changed, if any lists are observed.
    func update(
        for observers: Observers<Filter>,
        where condition: (CachedList<Entity>) -> Bool,
        _ update: (Filter, inout EntityList<Entity>) -> Bool
    ) -> [Filter] {
        let (changed, _) = change { lists in
            // Checked under the lock, so that an observer that registers later reads the changed lists.
            let areObserved = !observers.isEmpty
            var changed: [Filter] = []
            var evicted: [CachedList<Entity>] = []
            for filter in lists.keys {
                guard let list = lists.peek(filter), condition(list),
                    let byteCount = list.update({ update(filter, &$0) })
                else { continue }
                evicted += lists.setCost(byteCount, for: filter)
                if areObserved { changed.append(filter) }
            }
            return (changed, evicted)
        }
        return changed
    }

    /// Changes the lists, and removes the copies. When this method returns, no reader gets a list from before the change.
    ///
    /// - Parameter change: Changes the lists, and returns those that it has removed.
    /// - Returns: What `change` returns. It is released outside the lock.
    private func change<Outcome>(_ change: (inout Lists) -> Outcome) -> Outcome {
        lists.withLock { lists in
            // Copies are inserted under the same lock, so no new one can appear. They are removed first, because the change would
            // otherwise copy every array that they share. An empty cache has no copies.
            if lists.count > 0 { copies.withEachLock { $0.removeAll() } }
            return change(&lists)
        }
    }
}

/// A list in memory that is updated in place, so that appending n entities takes O(n) in total.
final class CachedList<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    typealias Answer = KeptAnswer<EntityList<Entity>>

    private struct State: Sendable {
        var list: EntityList<Entity>
        /// The validator of the response, or `nil` once the list has changed.
        var validator: Validator?
        /// Whether the list is in the store, or is not to be stored again. A write removes all lists from the store.
        var isStored: Bool
    }

    let filter: EntityFilter<Entity>
    /// The time of the request.
    let time: Duration
    private let staleTime: Duration
    private let state: Mutex<State>

    init(
        _ list: EntityList<Entity>,
        of filter: EntityFilter<Entity>,
        time: Duration,
        staleTime: Duration,
        validator: Validator? = nil
    ) {
        self.filter = filter
        self.time = time
        self.staleTime = staleTime
        state = Mutex(State(list: list, validator: validator, isStored: true))
    }

    /// The current list, and whether it is in the store. A change of the list copies it as long as its answer is referenced.
    var current: (answer: Answer, isStored: Bool) {
        state.withLock { state in
            (
                Answer(value: state.list, time: time, staleTime: staleTime, validator: state.validator),
                state.isStored
            )
        }
    }

    /// Updates the list.
    ///
    /// - Parameter change: Updates the list, or returns `false` to leave it unchanged.
    /// - Returns: the new encoded size in bytes, or `nil` if the list is unchanged.
    func update(_ change: (inout EntityList<Entity>) -> Bool) -> Int? {
        state.withLock { state in
            guard change(&state.list) else { return nil }
            state.validator = nil
            return state.list.byteCount
        }
    }

    /// Records that the list was stored, or removed from the store.
    func noteStored(_ isStored: Bool) { state.withLock { $0.isStored = isStored } }
}
