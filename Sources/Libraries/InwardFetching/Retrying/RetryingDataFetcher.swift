public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that asks again where that is safe and can help.
///
/// Between two attempts it waits, but no longer than the deadline of the task allows. When it asks no more, the last outcome is
/// given, and says how often it was tried and why no more.
public struct RetryingDataFetcher: ReportingDataFetcher {
    private typealias Outcome = Result<DataResponse, FetchError>

    /// What is wrapped.
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

    /// How often it is tried.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.retry, policy.attempts == 1 ? "tries once" : "tries up to \(policy.attempts) times")
    }

    /// The wrapped fetcher's first successful answer, or else its last. A request with ``DataRequest/isSentOnce`` is tried once.
    ///
    /// - Throws: what the wrapped fetcher throws at last; a ``FetchError`` with ``FetchError/Reason/cancelled`` if the task is
    ///   cancelled between two attempts.
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

    /// Waits until the next attempt is to begin; says why, if none is.
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
        // Whatever woke the task: an attempt is begun only while somebody waits for it, and with time for it.
        if Task.isCancelled { return .cancelled }
        if case .fulfilled = end, Deadline.current?.hasPassed != true { return nil }
        return .deadline
    }

    /// How long the source asked to wait.
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
        // The first outcome speaks for itself where no retry was in question.
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
    /// This fetcher with another attempt, after a while, for a request that failed and is safe to repeat.
    ///
    /// - Parameters:
    ///   - policy: Which requests are tried again, how often, and after how long.
    ///   - timer: What tells the time and wakes whoever waits.
    ///   - now: What tells the date. It is asked where the upstream named a date to ask again at.
    /// - Returns: the fetcher to hand requests to.
    public func retrying(
        _ policy: RetryPolicy,
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> RetryingDataFetcher {
        RetryingDataFetcher(self, policy: policy, timer: timer, now: now)
    }
}

/// Why a request is not tried again.
enum RetryEnding: Hashable, Sendable, CustomStringConvertible {
    /// A retry is not for an outcome like this one.
    case unsuited
    /// Once is what may be done with the request, and it may have been.
    case unrepeatable
    case attemptsExhausted
    case retryAfterTooLong(Duration)
    case deadline
    case budgetExhausted
    case cancelled

    /// Why, as a part of a sentence that begins with the number of attempts.
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
