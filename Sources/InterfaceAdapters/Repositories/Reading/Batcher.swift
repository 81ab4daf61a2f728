import Synchronization
import UseCases

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
    }

    private typealias Batch = (keys: [Key], waiters: [Key: [Promise<Answer>]])

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
        let full = state.withLock { state -> Batch? in
            if state.waiters[key] == nil { state.keys.append(key) }
            state.waiters[key, default: []].append(promise)
            if state.keys.count >= limit { return take(&state) }
            if state.timer == nil { state.timer = schedule(state.number) }
            return nil
        }
        if let full { begin(full) }
        return await promise.value()
    }

    private func schedule(_ number: Int) -> TimerService.Timer {
        timer.schedule(at: timer.now + window) { [weak self] in
            guard let self else { return }
            let batch = state.withLock { state in state.number == number ? take(&state) : nil }
            if let batch { begin(batch) }
        }
    }

    private func take(_ state: inout State) -> Batch {
        if let scheduled = state.timer { timer.cancel(scheduled) }
        defer { state = State(number: state.number + 1) }
        return (state.keys, state.waiters)
    }

    private func begin(_ batch: Batch) {
        // Unstructured, because it is for several, none of whom it ends with. It ends with its work.
        Task { [work] in
            let answers = await work(batch.keys)
            for (key, waiters) in batch.waiters {
                guard let answer = answers[key] else { continue }
                for waiter in waiters { waiter.keep(answer) }
            }
        }
    }
}
