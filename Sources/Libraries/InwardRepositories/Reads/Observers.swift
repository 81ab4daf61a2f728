import InwardCore
import Synchronization

/// The observers of a repository's entities and lists.
struct RepositoryObservers<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    let entities = Observers<Entity.ID>()
    let lists = Observers<EntityFilter<Entity>>()

    /// Tells the observers of entities, and those of the lists that may contain them, that they may have changed.
    ///
    /// - Parameters:
    ///   - ids: The entities.
    ///   - mayConcern: Whether a list may have changed. Called without a lock, for lists with observers.
    func notify(_ ids: [Entity.ID], lists mayConcern: (EntityFilter<Entity>) -> Bool = { _ in true }) {
        entities.notify(ids)
        lists.notify(where: mayConcern)
    }

    /// Tells every observer that what it observes may have changed.
    func notifyAll() {
        entities.notifyAll()
        lists.notifyAll()
    }
}

/// The observers of values with keys.
///
/// An observer registers before it reads, and a change notifies after it was made. Both take the lock, so an observer either
/// reads the change or is notified of it. Only signals are kept here, so an observer that nobody references any more leaves.
///
/// - Complexity: A change of a value that nobody observes costs one lock and one lookup.
final class Observers<Key: Hashable & Sendable>: Sendable {
    private let signals = Mutex<[Key: [ObjectIdentifier: ChangeSignal]]>([:])

    /// The number of observers.
    var count: Int { signals.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Whether there are no observers.
    var isEmpty: Bool { signals.withLock(\.isEmpty) }

    /// Returns whether somebody observes the value of a key.
    func isObserved(_ key: Key) -> Bool { signals.withLock { $0[key] != nil } }

    /// Begins to observe the value of a key, for as long as the result is referenced.
    func observe(_ key: Key) -> Observer<Key> {
        let observer = Observer(key, in: self)
        signals.withLock { $0[key, default: [:]][ObjectIdentifier(observer.signal)] = observer.signal }
        return observer
    }

    fileprivate func remove(_ key: Key, _ signal: ChangeSignal) {
        signals.withLock { signals in
            signals[key]?[ObjectIdentifier(signal)] = nil
            if signals[key]?.isEmpty == true { signals[key] = nil }
        }
    }

    /// Tells the observers of some values that these may have changed.
    ///
    /// - Parameters:
    ///   - keys: The keys of the values.
    ///   - condition: Whether to tell the observers of a key. Called without a lock, for keys with observers.
    func notify(_ keys: some Sequence<Key>, where condition: (Key) -> Bool = { _ in true }) {
        let observed = signals.withLock { signals -> [(key: Key, signals: [ChangeSignal])] in
            guard !signals.isEmpty else { return [] }
            return keys.compactMap { key in signals[key].map { (key, Array($0.values)) } }
        }
        for (key, signals) in observed where condition(key) {
            for signal in signals { signal.set() }
        }
    }

    /// Tells the observers of the keys that satisfy a condition, and those that may show something else than what is known here.
    ///
    /// - Complexity: O(n) in the number of observed keys.
    func notify(where condition: (Key) -> Bool) {
        let observed = signals.withLock { signals in signals.map { ($0.key, Array($0.value.values)) } }
        for (key, signals) in observed {
            let isConcerned = condition(key)
            for signal in signals where isConcerned || signal.isUncertain { signal.set() }
        }
    }

    /// Tells every observer that its value may have changed.
    func notifyAll() {
        let observed = signals.withLock { signals in signals.values.flatMap(\.values) }
        for signal in observed { signal.set() }
    }
}

/// An observer of the value of a key. It leaves when nothing references it.
final class Observer<Key: Hashable & Sendable>: Sendable {
    let key: Key
    let signal = ChangeSignal()
    private let observers: Observers<Key>

    fileprivate init(_ key: Key, in observers: Observers<Key>) {
        self.key = key
        self.observers = observers
    }

    deinit { observers.remove(key, signal) }
}

/// A signal that something may have changed, for one task that waits. Several signals before the wait are one.
final class ChangeSignal: Sendable {
    private struct State {
        var isSet = false
        var isUncertain = true
        var waiter: Promise<Void>?
    }

    private let state = Mutex(State())

    /// Whether something may have changed since the last wait.
    var isSet: Bool { state.withLock(\.isSet) }

    /// Whether the observer is reading, or shows an answer that was not kept, such as a fallback. What is known of kept answers then
    /// says nothing about what it shows.
    var isUncertain: Bool { state.withLock(\.isUncertain) }

    /// Notes whether the observer is reading, or shows an answer that was not kept.
    func note(isUncertain: Bool) { state.withLock { $0.isUncertain = isUncertain } }

    /// Sets the signal.
    func set() {
        let waiter = state.withLock { state in
            state.isSet = true
            return state.waiter.take()
        }
        waiter?.fulfill(())
    }

    /// Waits until the signal is set, and clears it.
    ///
    /// - Returns: how the wait ended: the signal was set, the task was cancelled, or its deadline passed.
    func wait() async -> Promise<Void>.Outcome {
        let promise = state.withLock { state -> Promise<Void>? in
            guard !state.isSet else { return nil }
            let promise = Promise<Void>()
            state.waiter = promise
            return promise
        }
        let outcome = await promise?.value() ?? .fulfilled(())
        // A change that set the signal in the meantime is seen by the read that follows.
        state.withLock { ($0.isSet, $0.waiter) = (false, nil) }
        return outcome
    }
}
