public import InwardCore
import Synchronization

/// Bounds how many requests are under way at once, in all the pipelines that it is handed to.
///
/// Who finds no room waits, in a queue that is bounded too: the highest priority first (that of the task, as it was made), and
/// of one priority who came first. Where the queue is full, the last of the lowest priority gives its place to a request of a
/// higher one, and is refused at once; without a lower one, the request that came is.
public final class ConcurrencyLimiter: Sendable {
    /// What somebody who waits is told.
    enum Turn {
        case goes
        case isShed
    }

    private struct State {
        var limit: ConcurrencyLimit
        var queue: ConcurrencyQueue<Promise<Turn>>
    }

    /// Whether the limit follows from how long requests take.
    let isAdaptive: Bool
    let timer: TimerService
    private let state: Mutex<State>
    private let patience: Duration?
    private let refusals: ConcurrencyRejections

    /// Makes a limiter that nobody goes through yet.
    ///
    /// - Parameters:
    ///   - limit: How many requests may be under way.
    ///   - capacity: How many may wait; with 0 or less, who finds no room is refused at once.
    ///   - patience: How long one may wait; `nil` for as long as its task's deadline allows, and with zero or less, who finds
    ///     no room is refused at once.
    ///   - timer: What tells the time.
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

    /// How many requests may be under way now.
    public var limit: Int { state.withLock(\.queue.limit) }
    /// How many requests are under way; for a while more than ``limit``, if that has fallen.
    public var underWay: Int { state.withLock(\.queue.underWay) }
    /// How many requests wait.
    public var waiting: Int { state.withLock(\.queue.waiting) }

    /// Lets a request go if there is room. Who goes has to release.
    func admit() -> Bool { state.withLock { $0.queue.admit() } }

    /// Waits until there is room for a request. Who goes has to release.
    ///
    /// - Throws: a ``FetchError`` if it does not go: refused, cancelled, or too late.
    func wait(_ request: DataRequest) async throws(FetchError) {
        // Before it takes the place of somebody who has more time.
        guard !Task.isCancelled else { throw refusals.cancelled(request) }
        let deadline = Deadline.current
        if let deadline, deadline.hasPassed { throw refusals.late(request) }
        let promise = Promise<Turn>()
        let priority = Task.basePriority ?? Task.currentPriority
        let arrival = state.withLock { $0.queue.arrive(promise, priority: priority) }
        switch arrival {
        case .goes: return
        case .refused: throw refusals.full(request)
        case .waits(let ticket, let shed):
            shed?.fulfill(.isShed)
            try await wait(request, with: ticket, for: promise, until: deadline)
        }
    }

    private func wait(
        _ request: DataRequest,
        with ticket: ConcurrencyQueue<Promise<Turn>>.Ticket,
        for promise: Promise<Turn>,
        until deadline: Deadline?
    ) async throws(FetchError) {
        let end = patience.map { Deadline(in: $0, on: timer) }
        let endsByPatience = end.map { end in deadline.map { end.remaining < $0.remaining } ?? true } ?? false
        switch await promise.value(until: endsByPatience ? end : deadline) {
        case .fulfilled(.goes): return
        case .fulfilled(.isShed): throw refusals.shed(request)
        case .cancelled:
            leave(ticket)
            throw refusals.cancelled(request)
        case .deadlinePassed:
            leave(ticket)
            throw endsByPatience ? refusals.impatient(request) : refusals.late(request)
        }
    }

    /// Gives back the room of a request that went.
    func release() {
        let next = state.withLock { $0.queue.release() }
        if !next.isEmpty { grant(next) }
    }

    /// Gives back the room of a request that went, and tells how it did.
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
            // Who has just left does not go, and the room is for the next.
            if !promise.fulfill(.goes) { rest += state.withLock { $0.queue.release() } }
        }
    }
}

/// Why a ``ConcurrencyLimiter`` lets requests not go, put into words once for all of them.
struct ConcurrencyRejections: Sendable {
    private let fullness: String
    private let shedding: String
    private let impatience: String

    init(_ limit: ConcurrencyLimit, capacity: Int, patience: Duration?) {
        let underWay =
            limit.isAdaptive
            ? "as many requests are under way as the source bears"
            : limit.count == 1 ? "1 request is under way" : "\(limit.count) requests are under way"
        let waiting = capacity == 0 ? "" : capacity == 1 ? " and 1 waits" : " and \(capacity) wait"
        fullness = "was not sent: \(underWay)\(waiting), the most allowed"
        shedding =
            "was not sent: one of higher priority took its place, because \(underWay)\(waiting), the most allowed"
        impatience = "was not sent: \(underWay), and it waited for \(patience ?? .zero), the longest allowed"
    }

    func full(_ request: DataRequest) -> FetchError { FetchError(.rejected, request: request, explanation: fullness) }

    func shed(_ request: DataRequest) -> FetchError { FetchError(.rejected, request: request, explanation: shedding) }

    func impatient(_ request: DataRequest) -> FetchError {
        FetchError(.rejected, request: request, explanation: impatience)
    }

    func late(_ request: DataRequest) -> FetchError {
        FetchError(
            .timedOut,
            request: request,
            explanation: "was not sent: there was no room before its deadline",
            wasSent: false
        )
    }

    func cancelled(_ request: DataRequest) -> FetchError {
        FetchError(
            .cancelled,
            request: request,
            explanation: "was cancelled before there was room to send it",
            wasSent: false
        )
    }
}
