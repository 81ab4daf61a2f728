import InwardCore
import Synchronization

/// The observers of a repository's entities and lists.
struct RepositoryObservers<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    let entities = Observers<Entity.ID>()
    let lists = Observers<EntityFilter<Entity>>()

    /// Notifies the observers of entities, and of lists that may have changed with them.
    ///
    /// - Parameters:
    ///   - ids: The identifiers of the entities.
    ///   - mayConcern: Returns whether a list may have changed. It is called without a lock, for observed lists only.
    func notify(_ ids: [Entity.ID], lists mayConcern: (EntityFilter<Entity>) -> Bool = { _ in true }) {
        entities.notify(ids)
        lists.notify(where: mayConcern)
    }

    /// Notifies all observers.
    func notifyAll() {
        entities.notifyAll()
        lists.notifyAll()
    }
}

/// The observers of values with keys.
///
/// An observer registers before it reads, and a change notifies after it was made. Both take the lock, so an observer either
/// reads the change or is notified of it. An observer is removed when nothing else references it.
///
/// - Complexity: A change of a value without observers costs one lock and one lookup.
final class Observers<Key: Hashable & Sendable>: Sendable {
    private let signals = Mutex<[Key: [ObjectIdentifier: ChangeSignal]]>([:])

    /// The number of observers.
    var count: Int { signals.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// Whether there are no observers.
    // Not a key path, which generic code would make again for each change.
    var isEmpty: Bool { signals.withLock { $0.isEmpty } }

    /// Returns whether the value of a key has observers.
    func isObserved(_ key: Key) -> Bool { signals.withLock { $0[key] != nil } }

    /// Returns an observer of the value of a key, which observes until it is released.
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

    /// Notifies the observers of values that may have changed.
    ///
    /// - Parameters:
    ///   - keys: The keys of the values.
    ///   - condition: Returns whether to notify the observers of a key. It is called without a lock, for observed keys only.
    func notify(_ keys: some Sequence<Key>, where condition: (Key) -> Bool = { _ in true }) {
        let observed = signals.withLock { signals -> [(key: Key, signals: [ChangeSignal])] in
            guard !signals.isEmpty else { return [] }
            return keys.compactMap { key in signals[key].map { (key, Array($0.values)) } }
        }
        for (key, signals) in observed where condition(key) {
            for signal in signals { signal.set() }
        }
    }

    /// Notifies the observers of the keys that satisfy a condition, and all observers that may show a value that is not cached.
    ///
    /// - Complexity: O(n) in the number of observed keys.
    func notify(where condition: (Key) -> Bool) {
        let observed = signals.withLock { signals in signals.map { ($0.key, Array($0.value.values)) } }
        for (key, signals) in observed {
            let isConcerned = condition(key)
            for signal in signals where isConcerned || signal.isUncertain { signal.set() }
        }
    }

    /// Notifies all observers.
    func notifyAll() {
        let observed = signals.withLock { signals in signals.values.flatMap(\.values) }
        for signal in observed { signal.set() }
    }
}

/// An observer of the value of a key. It stops observing when nothing references it.
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

/// A signal that a value may have changed, for one waiting task. Setting it several times before a wait counts once.
final class ChangeSignal: Sendable {
    private struct State {
        var isSet = false
        var isUncertain = true
        var waiter: Promise<Void>?
    }

    private let state = Mutex(State())

    /// Whether the value may have changed since the last wait.
    var isSet: Bool { state.withLock(\.isSet) }

    /// Whether the observer is reading, or shows an answer that was not cached, such as a fallback. The cache then cannot tell
    /// whether the observer shows the current value.
    var isUncertain: Bool { state.withLock(\.isUncertain) }

    /// Records whether the observer is reading, or shows an answer that was not cached.
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
    /// - Returns: the end of the wait: the signal was set, the task was cancelled, or its deadline passed.
    func wait() async -> Promise<Void>.Outcome {
        let promise = state.withLock { state -> Promise<Void>? in
            guard !state.isSet else { return nil }
            let promise = Promise<Void>()
            state.waiter = promise
            return promise
        }
        let outcome = await promise?.value() ?? .fulfilled(())
        // Clearing is safe: the read that follows sees any change that has set the signal since.
        state.withLock { ($0.isSet, $0.waiter) = (false, nil) }
        return outcome
    }
}
