public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that retries failed requests when that is safe and can help.
///
/// ```swift
/// let response = try await client.retrying(.standard).fetch(request)
/// if let retries = response.retries { print(retries) }  // 3 attempts, the maximum
/// ```
///
/// It waits between attempts, but not beyond the task's deadline. If no attempt succeeds, the last response or error has a
/// report on the number of attempts and why they ended.
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

    /// Returns the first successful response of the wrapped fetcher, or its last response if none is successful. A request with
    /// ``DataRequest/isSentOnce`` is not retried.
    ///
    /// An attempt to change something can end without telling whether it took effect, for example with a timeout. If no later
    /// attempt succeeds, the call fails with that unknown outcome, even if later attempts failed differently.
    ///
    /// - Throws: Errors of the wrapped fetcher; a ``FetchError`` with ``FetchError/Reason/cancelled`` if the task is cancelled
    ///   between attempts.
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
        var retried = RetriedRequest(request, by: self, first)
        let (outcome, attempts, ending) = await policy.schedule.retry(&retried, because: first, on: timer)
        guard let ending else { return try outcome.get() }
        guard ending != .cancelled else {
            throw cancelled(retried.request, after: attempts, wasSent: retried.wasSent)
        }
        return try given(outcome.regarding(retried.uncertainty, of: retried.request), after: attempts, ending)
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
        // There is no report if no retry was considered.
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
    /// ```swift
    /// let users = client.timingOut(after: .seconds(2)).retrying(RetryPolicy(attempts: 4))
    /// ```
    ///
    /// - Parameters:
    ///   - policy: The policy that decides which requests are retried, how often, and after which delay.
    ///   - timer: The source of time, which also wakes waiting requests.
    ///   - now: Returns the current date. It is called only if `Retry-After` is a date, and the response has no `Date` field.
    /// - Returns: The retrying fetcher.
    public func retrying(
        _ policy: RetryPolicy,
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> RetryingDataFetcher {
        RetryingDataFetcher(self, policy: policy, timer: timer, now: now)
    }
}

extension RetryingDataFetcher {
    /// A request that is retried, and what its attempts say about its effect.
    private struct RetriedRequest: RetriedOperation {
        typealias Outcome = Result<DataResponse, FetchError>

        /// The request as it was sent last.
        private(set) var request: DataRequest
        /// The last error after which it is unknown whether the request took effect.
        private(set) var uncertainty: FetchError?
        /// Whether the upstream may have seen any of the attempts.
        private(set) var wasSent: Bool
        private let fetcher: RetryingDataFetcher

        init(_ request: DataRequest, by fetcher: RetryingDataFetcher, _ first: Outcome) {
            self.request = request
            self.fetcher = fetcher
            uncertainty = first.uncertainty(of: request)
            wasSent = first.wasSent
        }

        func eligibility(of outcome: Outcome, after attempts: Int) -> RetryEligibility {
            let objection = fetcher.policy.objection(to: next, after: attempts, because: outcome)
            return objection.map { .not($0) } ?? .eligible(retryAfter: retryAfter(outcome))
        }

        func noteRetry(after delay: Duration, because outcome: Outcome) {
            fetcher.observers.tell { $0.retryScheduled(next, after: delay, because: outcome) }
        }

        mutating func attempt() async -> Outcome {
            request = next
            let outcome = await Outcome { [request, base = fetcher.base] () async throws(FetchError) in
                try await base.fetch(request)
            }
            uncertainty = outcome.uncertainty(of: request) ?? uncertainty
            wasSent = wasSent || outcome.wasSent
            return outcome
        }

        func isSuccess(_ outcome: Outcome) -> Bool {
            if case .success(let response) = outcome { response.status.isSuccess } else { false }
        }

        private var next: DataRequest {
            var next = request
            next.attempt += 1
            return next
        }

        /// Returns the delay that the upstream asked for.
        private func retryAfter(_ outcome: Outcome) -> Duration? {
            let retryAfter =
                switch outcome {
                case .success(let response): RetryAfter(response.headerFields)
                case .failure(let error): error.retryAfter
                }
            return retryAfter?.delay(from: fetcher.now())
        }
    }
}

/// An operation that can be retried: it makes attempts and interprets their outcomes.
///
/// ``RetrySchedule/retry(_:because:on:)`` is the loop for every such operation.
protocol RetriedOperation {
    /// The outcome of an attempt.
    associatedtype Outcome

    /// Returns whether an outcome may be retried, regardless of timing. It is not called for successes.
    func eligibility(of outcome: Outcome, after attempts: Int) -> RetryEligibility

    /// Called before another attempt, and before the wait for it.
    func noteRetry(after delay: Duration, because outcome: Outcome)

    /// Makes another attempt.
    mutating func attempt() async -> Outcome

    /// Returns whether an outcome needs no further attempt.
    func isSuccess(_ outcome: Outcome) -> Bool
}

/// Whether an outcome may be retried, regardless of timing.
enum RetryEligibility {
    /// The outcome may be retried, after the delay that the upstream asked for, if any.
    case eligible(retryAfter: Duration?)
    /// The outcome must not be retried.
    case not(RetryEnding)
}

extension RetrySchedule {
    /// Retries an operation until it succeeds or must not be retried. It waits between attempts, but not beyond the task's
    /// deadline.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - first: The outcome of the first attempt, which did not succeed.
    ///   - timer: The source of time, which also ends the waits.
    /// - Returns: The last outcome, the number of attempts, and the reason why there were no more; `nil` after a success.
    func retry<Operation: RetriedOperation>(
        _ operation: inout Operation,
        because first: Operation.Outcome,
        on timer: TimerService
    ) async -> (outcome: Operation.Outcome, attempts: Int, ending: RetryEnding?) {
        var outcome = first
        var attempts = 1
        while true {
            if let ending = await waited(for: operation, after: attempts, because: outcome, on: timer) {
                return (outcome, attempts, ending)
            }
            attempts += 1
            outcome = await operation.attempt()
            if operation.isSuccess(outcome) { return (outcome, attempts, nil) }
        }
    }

    /// Waits for the next attempt; returns the reason if no attempt follows.
    private func waited<Operation: RetriedOperation>(
        for operation: Operation,
        after attempts: Int,
        because outcome: Operation.Outcome,
        on timer: TimerService
    ) async -> RetryEnding? {
        switch operation.eligibility(of: outcome, after: attempts) {
        case .not(let ending):
            return ending
        case .eligible(let retryAfter):
            let decision = decision(
                after: attempts,
                retryAfter: retryAfter,
                remaining: Deadline.current?.remaining,
                fraction: jitter.fraction()
            )
            switch decision {
            case .end(let ending):
                return ending
            case .retry(let delay):
                guard !Task.isCancelled else { return .cancelled }
                guard budget?.withdraw() ?? true else { return .budgetExhausted }
                operation.noteRetry(after: delay, because: outcome)
                return await waited(delay, on: timer)
            }
        }
    }

    private func waited(_ delay: Duration, on timer: TimerService) async -> RetryEnding? {
        let promise = Promise<Void>()
        let alarm = timer.schedule(at: timer.now + delay) { promise.fulfill(()) }
        let end = await promise.value()
        timer.cancel(alarm)
        // Whatever ended the wait, begin an attempt only if the caller still waits and there is time left.
        if Task.isCancelled { return .cancelled }
        if case .fulfilled = end, Deadline.current?.hasPassed != true { return nil }
        return .deadline
    }
}

/// The reason why an operation is not retried.
enum RetryEnding: Hashable, Sendable, CustomStringConvertible {
    /// The policy does not retry this outcome.
    case unsuited
    /// It may have taken effect and is not safe to repeat.
    case unrepeatable
    case attemptsExhausted
    case retryAfterTooLong(Duration)
    case deadline
    case budgetExhausted
    case cancelled

    /// The reason as part of a sentence that begins with the number of attempts.
    var description: String {
        switch self {
        case .unsuited: "this outcome is not retried"
        case .unrepeatable: "it is not safe to repeat"
        case .attemptsExhausted: "the maximum"
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
