import Synchronization

/// Lets the repositories of one process that share a part of a store learn from each other at once.
///
///     let peers = RepositoryPeers()
///     let ada = RepositoryStore(records, partition: ["ada"], peers: peers, now: { Date() }, reportFailure: report)
///
/// Two sessions of a user have a repository each, over the same records. What one of them fetches replaces what the other one
/// has in memory, and those who observe the other one see it. The same holds for invalidations, and for writes that are sent
/// without an outbox; an outbox tells each repository anyway.
///
/// Create one for each store, and pass it to every ``RepositoryStore`` over that store. The repositories of a partition must
/// measure time with the same timer service; others do not learn from each other. A repository leaves when it is closed or
/// released.
///
/// - Complexity: A fetch, an invalidation and a write each take O(n) in the number of repositories of the same entities in the
///   same partition. Reads from memory are not affected.
public final class RepositoryPeers: Sendable {
    private struct State {
        var groups: [RecordKey: PeerGroup] = [:]
        /// How many caches are in each group, or about to join it.
        var counts: [RecordKey: Int] = [:]
    }

    private let state = Mutex(State())

    /// Creates a set without repositories.
    public init() {}

    /// The number of repositories.
    var count: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    /// Returns the group of the caches under a key, for one that joins it and leaves it later.
    func group(of key: RecordKey) -> PeerGroup {
        state.withLock { state in
            let group = state.groups[key] ?? PeerGroup()
            state.groups[key] = group
            state.counts[key, default: 0] += 1
            return group
        }
    }

    /// Removes a cache, which may be about to be released. Does nothing if it has left already.
    func leave(_ cache: ObjectIdentifier, under key: RecordKey) {
        state.withLock { state in
            guard let count = state.counts[key], state.groups[key]?.remove(cache) == true else { return }
            state.counts[key] = count > 1 ? count - 1 : nil
            if count == 1 { state.groups[key] = nil }
        }
    }
}

/// The caches of the same entities in the same part of a store. It does not keep them alive.
final class PeerGroup: Sendable {
    private struct Member: Sendable {
        weak let cache: (any AnyObject & Sendable)?
    }

    private let members = Mutex<[ObjectIdentifier: Member]>([:])
    private let order = Mutex(())

    /// Adds a cache.
    func add(_ cache: some AnyObject & Sendable) {
        members.withLock { $0[ObjectIdentifier(cache)] = Member(cache: cache) }
    }

    /// Removes a cache, and returns whether it was there.
    fileprivate func remove(_ cache: ObjectIdentifier) -> Bool {
        members.withLock { $0.removeValue(forKey: cache) != nil }
    }

    /// Returns the caches, except for one.
    func others(than cache: ObjectIdentifier) -> [any AnyObject & Sendable] {
        members.withLock { members in
            guard members.count > 1 else { return [] }
            // Returned whatever they are, so that none is released under the lock.
            return members.compactMap { id, member in id == cache ? nil : member.cache }
        }
    }

    /// Makes a change of several caches. Changes are made one after the other, so that of two writes the same one is the last in
    /// every cache.
    func inOrder(_ change: () -> Void) { order.withLock { _ in change() } }
}
