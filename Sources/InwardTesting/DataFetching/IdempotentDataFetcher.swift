public import InterfaceAdapters
import Synchronization
public import UseCases

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
    }

    private let state = Mutex(State())
    private let timer: TimerService?
    private let latency: @Sendable (DataRequest) -> Duration
    private let fate: @Sendable (DataRequest) -> Fate
    private let answer: @Sendable (DataRequest) -> DataResponse

    /// Makes an upstream that has done nothing yet.
    ///
    /// - Parameters:
    ///   - timer: What tells the time; `nil` if no request takes any.
    ///   - latency: How long a request takes, half of it before anything is done.
    ///   - fate: What becomes of a request.
    ///   - answer: What a request gets that is done.
    public init(
        timer: TimerService? = nil,
        latency: @escaping @Sendable (DataRequest) -> Duration = { _ in .zero },
        fate: @escaping @Sendable (DataRequest) -> Fate = { _ in .done },
        answer: @escaping @Sendable (DataRequest) -> DataResponse = { _ in DataResponse(status: .created) }
    ) {
        self.timer = timer
        self.latency = latency
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
            let answer = perform(request)
            try await travel(request)
            if fate == .done { return answer }
            throw FetchError(.interrupted, request: request, explanation: "was done, and the answer lost on the way")
        }
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
