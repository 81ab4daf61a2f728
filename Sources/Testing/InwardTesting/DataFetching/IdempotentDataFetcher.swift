public import InwardCore
public import InwardFetching
import Synchronization

/// An upstream that honors idempotency keys: it processes each key once, and answers repeats with the first response.
///
/// Use it to test that retried writes take effect once. The fate of each request decides whether the request or its response is
/// lost:
///
/// ```swift
/// let upstream = IdempotentDataFetcher(fate: { $0.attempt == 1 ? .answerLost : .done })
/// var request = DataRequest(method: .post, url: CommentClient.baseURL)
/// request.headerFields[.idempotencyKey] = "7f3a"
/// _ = try? await upstream.fetch(request)
/// request.attempt = 2
/// _ = try await upstream.fetch(request)
/// #expect(upstream.requests.count == 2 && upstream.done.count == 1)
/// ```
public final class IdempotentDataFetcher: DataFetcher {
    /// The fate of a request.
    public enum Fate: Hashable, Sendable {
        /// The request is processed and answered.
        case done
        /// The request never arrives.
        case lost
        /// The request is processed, but the response never arrives.
        case answerLost
        /// The request arrives, but gets this response and is not processed.
        case turnedAway(DataResponse)
    }

    private struct State {
        var requests: [DataRequest] = []
        var done: [DataRequest] = []
        var answers: [String: DataResponse] = [:]
        /// The time until which the first request with each key is being processed.
        var busyUntil: [String: Duration] = [:]
    }

    private let state = Mutex(State())
    private let timer: TimerService?
    private let latency: @Sendable (DataRequest) -> Duration
    private let workTime: @Sendable (DataRequest) -> Duration
    private let fate: @Sendable (DataRequest) -> Fate
    private let answer: @Sendable (DataRequest) -> DataResponse

    /// Creates an upstream that has processed nothing.
    ///
    /// - Parameters:
    ///   - timer: The timer service for delays, or `nil` if requests take no time.
    ///   - latency: The round-trip latency of a request. Half of it passes before the request is processed.
    ///   - workTime: The processing time of a request with a key. Until it has passed, repeats are answered with 409.
    ///     Processing finishes even if the sender stops waiting.
    ///   - fate: Returns the fate of a request.
    ///   - answer: Returns the response to a processed request.
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

    /// All requests so far, in the order in which they were made.
    public var requests: [DataRequest] { state.withLock(\.requests) }

    /// The requests that were processed with a successful response, in the order in which they were processed.
    public var done: [DataRequest] { state.withLock(\.done) }

    /// Processes a request, unless a request with the same key was processed before or the request's fate prevents it.
    ///
    /// - Throws: A `FetchError` if the request or its response is lost, or if the task is cancelled.
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
            throw FetchError(.interrupted, request: request, explanation: "was processed, but its response was lost")
        }
    }

    /// Processes a request from the moment of its arrival.
    ///
    /// - Returns: `false` if a request with the same key is already being processed.
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
        // The work finishes on time even if the sender no longer waits for it.
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
