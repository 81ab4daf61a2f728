public import InwardCore
import Synchronization

/// A limiter for the number of concurrent requests in all pipelines that share it.
///
/// Requests beyond the limit wait in a bounded queue: those with the highest task priority (at creation of the task) first,
/// in order of arrival within a priority. When the queue is full, a request displaces the last one of the lowest priority,
/// which is rejected at once. If none has a lower priority, the new request is rejected.
///
///     let limiter = ConcurrencyLimiter(.adaptive(), waiting: 100, atMost: .seconds(2))
///     let api = fetcher.limitingConcurrency(to: limiter)
public final class ConcurrencyLimiter: Sendable {
    /// The outcome of a wait.
    enum Turn {
        case goes
        case isShed
    }

    private struct State {
        var limit: ConcurrencyLimit
        var queue: ConcurrencyQueue<Promise<Turn>>
    }

    /// Whether the limit adapts to latencies.
    let isAdaptive: Bool
    let timer: TimerService
    private let state: Mutex<State>
    private let patience: Duration?
    private let refusals: ConcurrencyRejections

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent requests.
    ///   - capacity: The maximum number of waiting requests. With 0 or less, requests beyond the limit are rejected at once.
    ///   - patience: The maximum wait; `nil` to wait until the task's deadline. With zero or less, requests beyond the limit
    ///     are rejected at once.
    ///   - timer: The source of time.
    public init(
        _ limit: ConcurrencyLimit,
        waiting capacity: Int = 64,
        atMost patience: Duration? = nil,
        timer: TimerService = .continuous
    ) {
        let waits = patience.map { $0 > .zero } ?? true
        let queue = ConcurrencyQueue<Promise<Turn>>(limit: limit.count, capacity: waits ? capacity : 0)
        isAdaptive = limit.isAdaptive
        self.timer = timer
        self.patience = patience
        refusals = ConcurrencyRejections(limit, capacity: queue.capacity, patience: patience)
        state = Mutex(State(limit: limit, queue: queue))
    }

    /// The current limit.
    public var limit: Int { state.withLock(\.queue.limit) }
    /// The number of requests under way, which temporarily exceeds ``limit`` after the limit has fallen.
    public var underWay: Int { state.withLock(\.queue.underWay) }
    /// The number of waiting requests.
    public var waiting: Int { state.withLock(\.queue.waiting) }

    /// Admits a request if there is a permit. An admitted request must release it.
    func admit() -> Bool { state.withLock { $0.queue.admit() } }

    /// Waits until there is a permit for a request. An admitted request must release it.
    ///
    /// - Throws: A ``LimitRejection`` if the request is rejected, cancelled, or too late.
    func wait() async throws(LimitRejection) {
        // Checked before the request displaces one that has more time.
        guard !Task.isCancelled else { throw .cancelledInQueue }
        let deadline = Deadline.current
        if let deadline, deadline.hasPassed { throw .lateInQueue }
        let promise = Promise<Turn>()
        let priority = Task.basePriority ?? Task.currentPriority
        let arrival = state.withLock { $0.queue.arrive(promise, priority: priority) }
        switch arrival {
        case .goes: return
        case .refused: throw refusals.full
        case .waits(let ticket, let shed):
            shed?.fulfill(.isShed)
            try await wait(with: ticket, for: promise, until: deadline)
        }
    }

    private func wait(
        with ticket: ConcurrencyQueue<Promise<Turn>>.Ticket,
        for promise: Promise<Turn>,
        until deadline: Deadline?
    ) async throws(LimitRejection) {
        let end = patience.map { Deadline(in: $0, on: timer) }
        let endsByPatience = end.map { end in deadline.map { end.remaining < $0.remaining } ?? true } ?? false
        switch await promise.value(until: endsByPatience ? end : deadline) {
        case .fulfilled(.goes): return
        case .fulfilled(.isShed): throw refusals.shed
        case .cancelled:
            leave(ticket)
            throw .cancelledInQueue
        case .deadlinePassed:
            leave(ticket)
            throw endsByPatience ? refusals.impatient : .lateInQueue
        }
    }

    /// Releases the permit of a request.
    func release() {
        let next = state.withLock { $0.queue.release() }
        if !next.isEmpty { grant(next) }
    }

    /// Releases the permit of a request and records its outcome.
    func release(_ outcome: AdaptiveLimit.Outcome, from start: Duration) {
        let end = timer.now
        let next = state.withLock { state in
            let underWay = state.queue.underWay
            let limit = state.limit.record(outcome, from: start, to: end, underWay: underWay)
            guard limit != state.queue.limit else { return state.queue.release() }
            return state.queue.release() + state.queue.change(limit: limit)
        }
        if !next.isEmpty { grant(next) }
    }

    private func leave(_ ticket: ConcurrencyQueue<Promise<Turn>>.Ticket) {
        _ = state.withLock { $0.queue.leave(ticket) }
    }

    private func grant(_ promises: [Promise<Turn>]) {
        var rest = promises[...]
        while let promise = rest.popFirst() {
            // A waiter that has just left cannot use its permit, so pass it to the next one.
            if !promise.fulfill(.goes) { rest += state.withLock { $0.queue.release() } }
        }
    }
}

/// The rejections of a ``ConcurrencyLimiter``, formatted once.
struct ConcurrencyRejections: Sendable {
    let full: LimitRejection
    let shed: LimitRejection
    let impatient: LimitRejection

    init(_ limit: ConcurrencyLimit, capacity: Int, patience: Duration?) {
        let underWay =
            limit.isAdaptive
            ? "as many requests are under way as the source bears"
            : limit.count == 1 ? "1 request is under way" : "\(limit.count) requests are under way"
        let waiting = capacity == 0 ? "" : capacity == 1 ? " and 1 waits" : " and \(capacity) wait"
        full = LimitRejection(.limit, "was not sent: \(underWay)\(waiting), the most allowed")
        shed = LimitRejection(
            .limit,
            "was not sent: one of higher priority took its place, because \(underWay)\(waiting), the most allowed"
        )
        impatient = LimitRejection(
            .limit,
            "was not sent: \(underWay), and it waited for \(patience ?? .zero), the longest allowed"
        )
    }
}

extension LimitRejection {
    fileprivate static let lateInQueue = Self(.deadline, "was not sent: there was no room before its deadline")
    fileprivate static let cancelledInQueue = Self(.cancellation, "was cancelled before there was room to send it")
}
