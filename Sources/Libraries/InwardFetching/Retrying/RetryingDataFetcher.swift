public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that retries failed requests if that is safe and can help.
///
/// It waits between attempts, but not beyond the task's deadline. When it gives up, it returns or throws the last outcome
/// with a report on the number of attempts and why they ended.
public struct RetryingDataFetcher: ReportingDataFetcher {
    private typealias Outcome = Result<DataResponse, FetchError>

    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let policy: RetryPolicy
    private let timer: TimerService
    private let now: @Sendable () -> Date
    var observers = FetchObservers()

    init(_ base: any DataFetcher, policy: RetryPolicy, timer: TimerService, now: @escaping @Sendable () -> Date) {
        self.base = base
        self.policy = policy
        self.timer = timer
        self.now = now
    }

    /// The description of this layer, with the number of attempts.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.retry, policy.attempts == 1 ? "tries once" : "tries up to \(policy.attempts) times")
    }

    /// Returns the wrapped fetcher's first successful response, or otherwise its last one. A request with
    /// ``DataRequest/isSentOnce`` is not retried.
    ///
    /// - Throws: The last error of the wrapped fetcher; a ``FetchError`` with ``FetchError/Reason/cancelled`` if the task is
    ///   cancelled between attempts.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        policy.budget?.deposit()
        if request.isSentOnce { return try await base.fetch(request) }
        let outcome: Outcome
        do {
            let response = try await base.fetch(request)
            guard !response.status.isSuccess else { return response }
            outcome = .success(response)
        } catch {
            outcome = .failure(error)
        }
        return try await retry(request, because: outcome)
    }

    private func retry(_ request: DataRequest, because first: Outcome) async throws(FetchError) -> DataResponse {
        var request = request
        var outcome = first
        var uncertainty = first.uncertainty(of: request)
        var attempts = 1
        var wasSent = first.wasSent
        while true {
            let previous = request
            request.attempt += 1
            if let ending = await waited(for: request, after: attempts, because: outcome) {
                let last = outcome.regarding(uncertainty, of: previous)
                guard ending != .cancelled else { throw cancelled(previous, after: attempts, wasSent: wasSent) }
                return try given(last, after: attempts, ending)
            }
            attempts += 1
            outcome = await Outcome { [request] () async throws(FetchError) in try await base.fetch(request) }
            if case .success(let response) = outcome, response.status.isSuccess { return response }
            uncertainty = outcome.uncertainty(of: request) ?? uncertainty
            wasSent = wasSent || outcome.wasSent
        }
    }

    /// Waits for the next attempt; returns the reason if there is none.
    private func waited(for next: DataRequest, after attempts: Int, because outcome: Outcome) async -> RetryEnding? {
        if let objection = policy.objection(to: next, after: attempts, because: outcome) { return objection }
        let decision = policy.decision(
            after: attempts,
            retryAfter: retryAfter(outcome),
            remaining: Deadline.current?.remaining,
            fraction: policy.jitter.fraction()
        )
        switch decision {
        case .end(let ending):
            return ending
        case .retry(let delay):
            guard !Task.isCancelled else { return .cancelled }
            guard policy.budget?.withdraw() ?? true else { return .budgetExhausted }
            observers.tell { $0.retryScheduled(next, after: delay, because: outcome) }
            return await waited(delay)
        }
    }

    private func waited(_ delay: Duration) async -> RetryEnding? {
        let promise = Promise<Void>()
        let alarm = timer.schedule(at: timer.now + delay) { promise.fulfill(()) }
        let end = await promise.value()
        timer.cancel(alarm)
        // Whatever woke the task, begin an attempt only if the caller still waits and there is time left.
        if Task.isCancelled { return .cancelled }
        if case .fulfilled = end, Deadline.current?.hasPassed != true { return nil }
        return .deadline
    }

    /// Returns the delay that the upstream asked for.
    private func retryAfter(_ outcome: Outcome) -> Duration? {
        let retryAfter =
            switch outcome {
            case .success(let response): RetryAfter(response.headerFields)
            case .failure(let error): error.retryAfter
            }
        return switch retryAfter {
        case .delay(let delay): delay
        case .date(let date): min(max(.zero, .seconds(date.timeIntervalSince(now()))), Backoff.longest)
        case nil: nil
        }
    }

    private func cancelled(_ request: DataRequest, after attempts: Int, wasSent: Bool) -> FetchError {
        FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: wasSent)
            .reporting(RetryReport(attempts: attempts, ending: RetryEnding.cancelled.description))
    }

    private func given(
        _ outcome: Outcome,
        after attempts: Int,
        _ ending: RetryEnding
    ) throws(FetchError) -> DataResponse {
        // Without a report if a retry was never considered.
        guard attempts > 1 || ending != .unsuited else { return try outcome.get() }
        let report = RetryReport(attempts: attempts, ending: ending.description)
        switch outcome {
        case .success(var response):
            response.retries = report
            return response
        case .failure(let error):
            throw error.reporting(report)
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher with retries of failed requests that are safe to repeat.
    ///
    /// - Parameters:
    ///   - policy: The policy that determines which requests are retried, how often, and after which delay.
    ///   - timer: The source of time, which also wakes waiting requests.
    ///   - now: Returns the current date. It is called if the upstream specifies a date for the retry.
    /// - Returns: The retrying fetcher.
    public func retrying(
        _ policy: RetryPolicy,
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> RetryingDataFetcher {
        RetryingDataFetcher(self, policy: policy, timer: timer, now: now)
    }
}

/// The reason why a request is not retried.
enum RetryEnding: Hashable, Sendable, CustomStringConvertible {
    /// The policy does not retry such an outcome.
    case unsuited
    /// The request may have taken effect and is not safe to repeat.
    case unrepeatable
    case attemptsExhausted
    case retryAfterTooLong(Duration)
    case deadline
    case budgetExhausted
    case cancelled

    /// The reason as part of a sentence that begins with the number of attempts.
    var description: String {
        switch self {
        case .unsuited: "a retry is no help"
        case .unrepeatable: "it is not safe to repeat"
        case .attemptsExhausted: "the most allowed"
        case .retryAfterTooLong(let delay): "the upstream asked to wait \(Self.seconds(of: delay))"
        case .deadline: "the deadline leaves no time"
        case .budgetExhausted: "the retry budget is used up"
        case .cancelled: "cancelled before the next"
        }
    }

    private static func seconds(of delay: Duration) -> String {
        let (seconds, attoseconds) = delay.components
        let rounded = attoseconds > 0 ? seconds + 1 : seconds
        return rounded == 1 ? "1 second" : "\(rounded) seconds"
    }
}
