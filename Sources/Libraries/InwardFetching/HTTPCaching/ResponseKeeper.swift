import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps the responses of a partition in a store (write-behind), and finds them there.
///
/// A task writes in the background, in order. Reads find changes that are not in the store yet. So a removed response is not found again,
/// even while the store is slow or fails: the removal is repeated with the next change.
final class ResponseKeeper: Sendable {
    /// A removal by a condition.
    enum Purge: Sendable {
        case all
        case matching(@Sendable (_ url: String, _ headerFields: HeaderFields) -> Bool)

        func applies(to url: String, _ headerFields: HeaderFields) -> Bool {
            switch self {
            case .all: true
            case .matching(let condition): condition(url, headerFields)
            }
        }
    }

    /// Changes that are written together, first the purges.
    private struct Batch {
        var purges: [Purge] = []
        /// The responses by URL; none where they are removed.
        var responses: [String: [StoredResponse]] = [:]

        var isEmpty: Bool { purges.isEmpty && responses.isEmpty }
    }

    private struct State {
        var next = Batch()
        /// The number of bytes that the next batch keeps.
        var byteCount = 0
        /// The batch that is being written.
        var current = Batch()
        var isWriting = false
        /// Callers who wait until the next batch is written.
        var waiters: [Promise<Bool>] = []

        /// Returns whether a task has to begin to write.
        mutating func begin() -> Bool {
            defer { isWriting = true }
            return !isWriting
        }

        /// Changes the responses of a URL.
        mutating func change(_ url: String, to responses: [StoredResponse]) {
            let replaced = next.responses[url]?.cost ?? 0
            let isTooMuch = byteCount - replaced + responses.cost > ResponseKeeper.maximumBytes
            let kept = isTooMuch ? [] : responses
            byteCount += kept.cost - replaced
            next.responses[url] = kept
            limit()
        }

        /// Gives up on keeping what waits if the store does not keep up.
        private mutating func limit() {
            guard
                next.responses.count > ResponseKeeper.maximumURLs
                    || next.purges.count > ResponseKeeper.maximumPurges
            else { return }
            next = Batch(purges: [.all])
            byteCount = 0
        }

        mutating func purge(_ purge: Purge) {
            if case .all = purge { next = Batch() }
            next.purges.append(purge)
            // The store may have an older version, to which the purge does not apply.
            for (url, responses) in next.responses
            where responses.contains(where: { purge.applies(to: url, $0.headerFields) }) {
                next.responses[url] = []
            }
            byteCount = next.responses.values.reduce(0) { $0 + $1.cost }
            limit()
        }

        /// Repeats a batch that could not be written. What it should have kept is removed, because the store has an older version.
        mutating func restore(_ failed: Batch) {
            next.purges = failed.purges + next.purges
            for url in failed.responses.keys where next.responses[url] == nil { next.responses[url] = [] }
            limit()
        }
    }

    private static let maximumURLs = 10_000
    private static let maximumPurges = 100
    private static let maximumBytes = 32 * 1_024 * 1_024
    /// The number of URLs that a purge reads at once.
    private static let pageLimit = 500
    /// The number of URLs that are written at once.
    private static let commitLimit = 100

    private let store: any ResponseStore
    private let policy: CachePolicy
    private let executor: (any TaskExecutor)?
    private let now: @Sendable () -> CacheMoment
    private let makeBody: @Sendable (Data) -> StoredBody
    private let report: @Sendable (ResponseStoreError) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - store: The store.
    ///   - policy: The rules of the partition.
    ///   - executor: The executor of the writes.
    ///   - now: Returns the current time.
    ///   - makeBody: Returns the body with some data.
    ///   - report: Called for each failure of the store.
    init(
        _ store: any ResponseStore,
        policy: CachePolicy,
        executor: (any TaskExecutor)?,
        now: @escaping @Sendable () -> CacheMoment,
        makeBody: @escaping @Sendable (Data) -> StoredBody,
        report: @escaping @Sendable (ResponseStoreError) -> Void
    ) {
        self.store = store
        self.policy = policy
        self.executor = executor
        self.now = now
        self.makeBody = makeBody
        self.report = report
    }

    // MARK: Reading

    /// Returns the responses under a URL; `nil` if the store fails.
    func responses(for url: String) async -> [StoredResponse]? {
        let (pending, purges) = state.withLock { state -> ([StoredResponse]?, [Purge]) in
            // The purges of a batch came before its responses.
            if let next = state.next.responses[url] { return (next, []) }
            if let current = state.current.responses[url] { return (current, state.next.purges) }
            return (nil, state.current.purges + state.next.purges)
        }
        func isLeft(_ response: StoredResponse) -> Bool {
            !purges.contains { $0.applies(to: url, response.headerFields) }
        }
        if let pending { return pending.filter(isLeft) }
        do throws(ResponseStoreError) {
            let moment = now()
            return try await store.responses(for: url).compactMap { kept in
                StoredResponse(kept, at: moment, policy: policy, makeBody: makeBody)
            }
            .filter(isLeft)
        } catch {
            // Nobody waits for the answer any longer if the task is cancelled.
            if !Task.isCancelled { report(error) }
            return nil
        }
    }

    // MARK: Changing

    /// Replaces what is kept of a URL.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - responses: The responses; none to remove what is kept.
    ///   - isCurrent: Returns whether no purge has begun since the responses were asked for. If one has, what is kept is removed.
    /// - Returns: Whether the caller must call ``startWriting()``, without holding a lock.
    func change(_ url: String, to responses: [StoredResponse], if isCurrent: () -> Bool = { true }) -> Bool {
        state.withLock { state in
            state.change(url, to: isCurrent() ? responses : [])
            return state.begin()
        }
    }

    /// Removes responses by a condition.
    ///
    /// - Parameters:
    ///   - purge: The condition.
    ///   - begin: Called at the moment from which on no read finds them.
    /// - Returns: Whether the caller must call ``startWriting()``, without holding a lock.
    func purge(_ purge: Purge, begin: () -> Void) -> Bool {
        state.withLock { state in
            begin()
            state.purge(purge)
            return state.begin()
        }
    }

    /// Waits until everything that has changed so far is in the store.
    ///
    /// - Returns: Whether it is; `false` if the store failed, the task was cancelled, or its deadline passed.
    func flush() async -> Bool {
        let promise = Promise<Bool>()
        let (isIdle, isFirst) = state.withLock { state in
            if !state.isWriting, state.next.isEmpty { return (true, false) }
            state.waiters.append(promise)
            return (false, state.begin())
        }
        if isIdle { return true }
        if isFirst { startWriting() }
        if case .fulfilled(let isWritten) = await promise.value() { return isWritten }
        return false
    }

    // MARK: Writing

    func startWriting() {
        // Unstructured, because readers do not wait for the store. The task ends when nothing is left to write or the store fails,
        // and `flush` waits for it. It does not inherit the caller's deadline.
        InteractionID.lifted {
            Deadline.lifted { _ = Task.starting(on: executor) { await self.write() } }
        }
    }

    private func write() async {
        while let (taken, waiters) = nextBatch() {
            var batch = taken
            var failure: ResponseStoreError?
            do throws(ResponseStoreError) {
                try await write(&batch)
            } catch {
                failure = error
            }
            let hasStopped = state.withLock { state in
                state.current = Batch()
                guard failure != nil else { return false }
                state.restore(batch)
                // The next change tries again, and so do callers who wait already.
                state.isWriting = !state.waiters.isEmpty
                return !state.isWriting
            }
            for waiter in waiters { waiter.fulfill(failure == nil) }
            if let failure { report(failure) }
            if hasStopped { return }
        }
    }

    /// Returns what to write next, and who waits for it; `nil` if there is nothing.
    private func nextBatch() -> (Batch, [Promise<Bool>])? {
        state.withLock { state in
            let waiters = state.waiters
            state.waiters = []
            guard !state.next.isEmpty || !waiters.isEmpty else {
                state.isWriting = false
                return nil
            }
            state.current = state.next
            state.next = Batch()
            state.byteCount = 0
            return (state.current, waiters)
        }
    }

    /// Writes a batch, and removes from it what has been written.
    private func write(_ batch: inout Batch) async throws(ResponseStoreError) {
        while let purge = batch.purges.first {
            try await write(purge)
            batch.purges.removeFirst()
        }
        let moment = now()
        while !batch.responses.isEmpty {
            let part = batch.responses.prefix(Self.commitLimit)
            try await store.commit(
                part.map { url, responses in
                    let kept = responses.compactMap { $0.kept(at: moment, policy: policy) }
                    return kept.isEmpty ? .remove(under: url) : .keep(kept, under: url)
                }
            )
            for url in part.map(\.key) { batch.responses[url] = nil }
        }
    }

    private func write(_ purge: Purge) async throws(ResponseStoreError) {
        guard case .matching(let condition) = purge else { return try await store.commit([.removeAll]) }
        var last: String?
        while true {
            let page = try await store.metadata(after: last, limit: Self.pageLimit)
            guard let end = page.last else { return }
            last = end.url
            let removals = page.filter { url, metadata in
                // What cannot be read cannot be used either.
                metadata.contains { HeaderFields(kept: $0).map { condition(url, $0) } ?? true }
            }
            if !removals.isEmpty { try await store.commit(removals.map { .remove(under: $0.url) }) }
        }
    }
}

extension [StoredResponse] {
    /// The approximate number of bytes that the responses need.
    fileprivate var cost: Int { reduce(0) { $0 + $1.cost } }
}
