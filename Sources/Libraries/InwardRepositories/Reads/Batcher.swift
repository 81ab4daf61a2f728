import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Combines requests for single keys that arrive within a short window into one batch.
final class Batcher<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
    /// Processes several keys and returns an answer for each.
    typealias Work = @Sendable ([Key]) async -> [Key: Answer]

    private struct State {
        var keys: [Key] = []
        var waiters: [Key: [Promise<Answer>]] = [:]
        /// The number of the batch that is being collected.
        var number = 0
        var timer: TimerService.Timer?
        /// The batches in flight, by number.
        var underWay: [Int: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let limit: Int
    private let window: Duration
    private let timer: TimerService
    private let work: Work
    private let state = Mutex(State())

    /// Creates a batcher.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of keys in a batch.
    ///   - window: How long the first request waits for others to join it.
    ///   - timer: The timer service that measures the window.
    ///   - work: Processes a batch and returns an answer for every key.
    init(limit: Int, window: Duration, timer: TimerService, work: @escaping Work) {
        self.limit = limit
        self.window = window
        self.timer = timer
        self.work = work
    }

    /// Returns the answer for a key, as part of a batch.
    ///
    /// If a caller stops waiting, the batch continues for the others.
    func answer(to key: Key) async -> Promise<Answer>.Outcome {
        let promise = Promise<Answer>()
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            if state.waiters[key] == nil { state.keys.append(key) }
            state.waiters[key, default: []].append(promise)
            if state.keys.count >= limit {
                begin(&state)
            } else if state.timer == nil {
                state.timer = schedule(state.number)
            }
            return false
        }
        return isClosed ? .cancelled : await promise.value()
    }

    /// Cancels all batches, rejects new requests, and ends the waits for batches that have not begun.
    func close() {
        let (tasks, waiters) = state.withLock { state in
            if let scheduled = state.timer { timer.cancel(scheduled) }
            defer { state = State(isClosed: true) }
            return (Array(state.underWay.values), state.waiters.values.flatMap(\.self))
        }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.cancel() }
    }

    private func schedule(_ number: Int) -> TimerService.Timer {
        timer.schedule(at: timer.now + window) { [weak self] in
            self?.state.withLock { state in
                if state.number == number, !state.isClosed { self?.begin(&state) }
            }
        }
    }

    /// Begins the collected batch, and starts collecting the next one.
    private func begin(_ state: inout State) {
        if let scheduled = state.timer { timer.cancel(scheduled) }
        let (number, keys, waiters) = (state.number, state.keys, state.waiters)
        // Unstructured, because the batch serves several callers and must not end with any one of them. It ends when its work
        // is done or `close()` cancels it. Creating it under the lock is safe: the task takes the lock only after its work.
        let task = Task.starting(on: timer.executor) { [work, weak self] in
            let answers = await work(keys)
            self?.state.withLock { _ = $0.underWay.removeValue(forKey: number) }
            for (key, waiters) in waiters {
                let answer = answers[key]
                // Cancelled work has no answers.
                for waiter in waiters { _ = answer.map { waiter.fulfill($0) } ?? waiter.cancel() }
            }
        }
        state.underWay[number] = task
        (state.keys, state.waiters, state.timer, state.number) = ([], [:], nil, number + 1)
    }
}

extension EntitySource {
    typealias Answer = Result<Reading<Entity>, RepositoryError>

    /// Creates a batcher of requests for entities by their identifiers.
    func makeBatcher(_ batching: Batching<Entity.ID>) -> Batcher<Entity.ID, Answer> {
        Batcher(limit: batching.limit, window: batching.window, timer: timer) { ids in
            guard ids.count > 1 else {
                return [
                    ids[0]: await Result(awaiting: { () async throws(RepositoryError) in
                        try await fetchAlone(ids[0], bypassingCaches: false)
                    })
                ]
            }
            return await fetch(ids, batching)
        }
    }

    /// Fetches several entities in one request.
    ///
    /// - Returns: an answer for each identifier.
    private func fetch(_ ids: [Entity.ID], _ batching: Batching<Entity.ID>) async -> [Entity.ID: Answer] {
        let fetch = await begin()
        defer { memory.end(fetch.tick) }
        do throws(RepositoryError) {
            let query = batching.fields(ids).map { URLQueryItem(name: $0.name, value: $0.value) }
            let (answer, time) = try await read(endpoint.path, query, bypassingCaches: false)
            let list = try answer.decoded(by: endpoint.decodeList)
            let entities = Dictionary(list.entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let stamp = stamp(fetch, time, of: answer, share: max(1, list.entities.count))
            var answers: [Entity.ID: Answer] = [:]
            for id in ids {
                if let entity = entities[id] {
                    if answer.mayBeKept { cache.keep(entity, stamp) }
                    answers[id] = .success(answer.reading(entity, fresh: endpoint.lifetimes.staleAfter))
                } else if let damaged = list.rejected.first {
                    // The damaged record may be the requested one, so the entity does not count as missing.
                    answers[id] = .failure(
                        RepositoryError(
                            .unreadable,
                            request: answer.request.description,
                            explanation: "returned a list without \(id) and with a damaged record: \(damaged)"
                        )
                    )
                } else {
                    if answer.mayBeKept { cache.keepAbsence(of: id, stamp) }
                    answers[id] = .failure(
                        RepositoryError(
                            .notFound,
                            request: answer.request.description,
                            explanation: "returned a list without \(id)"
                        )
                    )
                }
            }
            return answers
        } catch {
            return Dictionary(ids.map { ($0, .failure(error)) }, uniquingKeysWith: { first, _ in first })
        }
    }
}
