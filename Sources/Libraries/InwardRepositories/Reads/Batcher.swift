import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes one piece of work of what is asked for one by one at nearly the same time.
final class Batcher<Key: Hashable & Sendable, Answer: Sendable>: Sendable {
    /// Does the work for several keys, and answers each of them.
    typealias Work = @Sendable ([Key]) async -> [Key: Answer]

    private struct State {
        var keys: [Key] = []
        var waiters: [Key: [Promise<Answer>]] = [:]
        /// Which batch it is that is being collected.
        var number = 0
        var timer: TimerService.Timer?
        /// The work that is being done, by the numbers of the batches.
        var underWay: [Int: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let limit: Int
    private let window: Duration
    private let timer: TimerService
    private let work: Work
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: How many keys one piece of work is for at most.
    ///   - window: How long the first waits for others.
    ///   - timer: What tells the time.
    ///   - work: Does the work, and has an answer to every key.
    init(limit: Int, window: Duration, timer: TimerService, work: @escaping Work) {
        self.limit = limit
        self.window = window
        self.timer = timer
        self.work = work
    }

    /// The answer to a key, together with those that others ask for meanwhile.
    ///
    /// Who gives up ends only its own wait: the work is done for the others.
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

    /// Cancels all work, begins no more, and ends the waits for work that has not begun.
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

    /// Begins the work for what was collected, and to collect the next.
    private func begin(_ state: inout State) {
        if let scheduled = state.timer { timer.cancel(scheduled) }
        let (number, keys, waiters) = (state.number, state.keys, state.waiters)
        // Unstructured, because it is for several, none of whom it ends with. It ends with its work, or is cancelled by the close:
        // it is made and kept under the lock, which it takes itself only when the work is done.
        let task = Task(executorPreference: timer.executor) { [work, weak self] in
            let answers = await work(keys)
            self?.state.withLock { _ = $0.underWay.removeValue(forKey: number) }
            for (key, waiters) in waiters {
                let answer = answers[key]
                // Nobody waits for an answer that work was cancelled without.
                for waiter in waiters { _ = answer.map { waiter.fulfill($0) } ?? waiter.cancel() }
            }
        }
        state.underWay[number] = task
        (state.keys, state.waiters, state.timer, state.number) = ([], [:], nil, number + 1)
    }
}

extension EntitySource {
    typealias Answer = Result<Reading<Entity>, RepositoryError>

    /// What asks for several entities at once; `nil` if the endpoint has no request for that.
    func makeBatcher() -> Batcher<Entity.ID, Answer>? {
        endpoint.batching.map { batching in
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
    }

    /// Asks for several entities at once.
    ///
    /// - Returns: an answer to each of them.
    private func fetch(_ ids: [Entity.ID], _ batching: Batching<Entity.ID>) async -> [Entity.ID: Answer] {
        let tick = memory.begin()
        defer { memory.end(tick) }
        do throws(RepositoryError) {
            let query = batching.fields(ids).map { URLQueryItem(name: $0.name, value: $0.value) }
            let (answer, time) = try await read(endpoint.path, query, bypassingCaches: false)
            let list = try answer.decoded(by: endpoint.decodeList)
            let entities = Dictionary(list.entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let stamp = stamp(tick, time, of: answer, share: max(1, list.entities.count))
            var answers: [Entity.ID: Answer] = [:]
            for id in ids {
                if let entity = entities[id] {
                    if answer.mayBeKept { memory.keep(entity, stamp) }
                    answers[id] = .success(answer.reading(entity, fresh: endpoint.lifetimes.staleAfter))
                } else if let damaged = list.rejected.first {
                    // It may be the one that cannot be read.
                    answers[id] = .failure(
                        RepositoryError(
                            .unreadable,
                            request: answer.request.description,
                            explanation: "was answered without \(id) and with what cannot be used: \(damaged)"
                        )
                    )
                } else {
                    if answer.mayBeKept { memory.keepAbsence(of: id, stamp) }
                    answers[id] = .failure(
                        RepositoryError(
                            .notFound,
                            request: answer.request.description,
                            explanation: "was answered without \(id)"
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
