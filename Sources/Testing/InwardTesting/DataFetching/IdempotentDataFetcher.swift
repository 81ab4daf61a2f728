public import InwardCore
public import InwardFetching
import Synchronization

/// An upstream that honours idempotency keys: what was done with a key is not done again, and a repeat gets the answer of the first.
///
/// Each request meets a fate first, so that answers, and whole requests, can be lost on the way.
public final class IdempotentDataFetcher: DataFetcher {
    /// What becomes of a request on its way.
    public enum Fate: Hashable, Sendable {
        /// It is done and answered.
        case done
        /// It never arrives.
        case lost
        /// It is done, and the answer never arrives.
        case answerLost
        /// It arrives, is not done, and gets this answer.
        case turnedAway(DataResponse)
    }

    private struct State {
        var requests: [DataRequest] = []
        var done: [DataRequest] = []
        var answers: [String: DataResponse] = [:]
        /// Until when it works on what a key came with first.
        var busyUntil: [String: Duration] = [:]
    }

    private let state = Mutex(State())
    private let timer: TimerService?
    private let latency: @Sendable (DataRequest) -> Duration
    private let workTime: @Sendable (DataRequest) -> Duration
    private let fate: @Sendable (DataRequest) -> Fate
    private let answer: @Sendable (DataRequest) -> DataResponse

    /// Makes an upstream that has done nothing yet.
    ///
    /// - Parameters:
    ///   - timer: What tells the time; `nil` if no request takes any.
    ///   - latency: How long a request takes, half of it before anything is done.
    ///   - workTime: How long it works on a request that has a key, whether or not its sender waits. Until it is done, repeats are
    ///     answered with 409.
    ///   - fate: What becomes of a request.
    ///   - answer: What a request gets that is done.
    public init(
        timer: TimerService? = nil,
        latency: @escaping @Sendable (DataRequest) -> Duration = { _ in .zero },
        workTime: @escaping @Sendable (DataRequest) -> Duration = { _ in .zero },
        fate: @escaping @Sendable (DataRequest) -> Fate = { _ in .done },
        answer: @escaping @Sendable (DataRequest) -> DataResponse = { _ in DataResponse(status: .created) }
    ) {
        self.timer = timer
        self.latency = latency
        self.workTime = workTime
        self.fate = fate
        self.answer = answer
    }

    /// All requests so far, as they were made.
    public var requests: [DataRequest] { state.withLock(\.requests) }

    /// The requests that were done, in the order in which they were.
    public var done: [DataRequest] { state.withLock(\.done) }

    /// Does what is asked, if it was not done before, and if its fate has it so.
    ///
    /// - Throws: a `FetchError` if the request or its answer is lost, or the task is cancelled.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        state.withLock { $0.requests.append(request) }
        let fate = fate(request)
        try await travel(request)
        switch fate {
        case .lost: throw FetchError(.unreachable, request: request, explanation: "was lost on the way", wasSent: false)
        case .turnedAway(let response):
            try await travel(request)
            return response
        case .done, .answerLost:
            guard try await work(on: request) else { return DataResponse(status: 409) }
            let answer = perform(request)
            try await travel(request)
            if fate == .done { return answer }
            throw FetchError(.interrupted, request: request, explanation: "was done, and the answer lost on the way")
        }
    }

    /// Works on a request, from the moment that it comes in.
    ///
    /// - Returns: `false` if it is at work on the same already.
    private func work(on request: DataRequest) async throws(FetchError) -> Bool {
        let duration = workTime(request)
        guard let timer, duration > .zero, let key = request.headerFields[.idempotencyKey] else { return true }
        let now = timer.now
        let (end, isFirst) = state.withLock { state -> (Duration, Bool) in
            if let end = state.busyUntil[key] { return (end, false) }
            state.busyUntil[key] = now + duration
            return (now + duration, true)
        }
        guard end > now else { return true }
        guard isFirst else { return false }
        // It is done at its time, also if nobody waits for it any more.
        timer.schedule(at: end) { [self] in _ = perform(request) }
        do {
            try await timer.sleep(until: end)
        } catch {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        return true
    }

    private func perform(_ request: DataRequest) -> DataResponse {
        let key = request.headerFields[.idempotencyKey]
        if let key, let earlier = state.withLock({ $0.answers[key] }) { return earlier }
        let answer = answer(request)
        return state.withLock { state in
            if let key, let earlier = state.answers[key] { return earlier }
            if answer.status.isSuccess { state.done.append(request) }
            if let key { state.answers[key] = answer }
            return answer
        }
    }

    private func travel(_ request: DataRequest) async throws(FetchError) {
        do {
            if Task.isCancelled { throw CancellationError() }
            try await timer?.sleep(for: latency(request) / 2)
        } catch {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
    }
}
