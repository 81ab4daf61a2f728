public import InwardCore
import Synchronization

/// A limiter for the number of concurrent requests in all pipelines that share it.
///
/// Requests beyond the limit wait in a bounded queue. Requests of tasks with a higher base priority go first, in order of
/// arrival within a priority. When the queue is full, a new request displaces the last one of the lowest priority, which is
/// rejected at once. If none has a lower priority, the new request is rejected.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(.adaptive(), waiting: 100, atMost: .seconds(2))
/// let api = client.limitingConcurrency(to: limiter)
/// ```
public final class ConcurrencyLimiter: Sendable {
    /// The outcome of a wait.
    enum Turn {
        case goes
        case isShed
    }

    private struct State {
        var limit: ConcurrencyLimit
        var queue: ConcurrencyQueue<Promise<Turn>>
        var rejections: ConcurrencyRejections
    }

    /// Whether the limit adapts to latencies.
    let isAdaptive: Bool
    let timer: TimerService
    private let state: Mutex<State>
    private let patience: Duration?

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
        let rejections = ConcurrencyRejections(limit, capacity: queue.capacity, patience: patience)
        state = Mutex(State(limit: limit, queue: queue, rejections: rejections))
    }

    /// The current limit.
    public var limit: Int { state.withLock(\.queue.limit) }
    /// The number of requests under way. After ``limit`` has fallen, this exceeds it until enough requests have ended.
    public var underWay: Int { state.withLock(\.queue.underWay) }
    /// The maximum number of waiting requests.
    public var capacity: Int { state.withLock(\.queue.capacity) }
    /// The number of waiting requests.
    public var waiting: Int { state.withLock(\.queue.waiting) }

    private var rejections: ConcurrencyRejections { state.withLock(\.rejections) }

    /// Changes a fixed limit and the capacity of the queue. Requests under way and waiting requests are kept, and count toward
    /// the new limits.
    ///
    /// - Returns: Work to do without a lock, which resumes the requests that the new limit admits.
    func change(to count: Int, waiting capacity: Int) -> () -> Void {
        let limit = ConcurrencyLimit.fixed(count)
        let rejections = ConcurrencyRejections(limit, capacity: max(0, capacity), patience: patience)
        let next = state.withLock { state in
            state.limit = limit
            state.rejections = rejections
            state.queue.capacity = max(0, capacity)
            return state.queue.change(limit: limit.count)
        }
        return { self.grant(next) }
    }

    /// Admits a request if there is a permit. An admitted request must release it.
    func admit() -> Bool { state.withLock { $0.queue.admit() } }

    /// Waits until there is a permit for a request. An admitted request must release it.
    ///
    /// - Throws: A ``LimitRejection`` if the request is rejected, cancelled, or too late.
    func wait() async throws(LimitRejection) {
        // Check this first, because the request could displace one that has more time.
        guard !Task.isCancelled else { throw .cancelledInQueue }
        let deadline = Deadline.current
        if let deadline, deadline.hasPassed { throw .lateInQueue }
        let promise = Promise<Turn>()
        let priority = Task.basePriority ?? Task.currentPriority
        let arrival = state.withLock { $0.queue.arrive(promise, priority: priority) }
        switch arrival {
        case .goes: return
        case .refused: throw rejections.full
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
        case .fulfilled(.isShed): throw rejections.shed
        case .cancelled:
            leave(ticket)
            throw .cancelledInQueue
        case .deadlinePassed:
            leave(ticket)
            throw endsByPatience ? rejections.impatient : .lateInQueue
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
            ? "as many requests are under way as the upstream handles"
            : limit.count == 1 ? "1 request is under way" : "\(limit.count) requests are under way"
        let waiting = capacity == 0 ? "" : capacity == 1 ? " and 1 waits" : " and \(capacity) wait"
        full = LimitRejection(.limit, "was not sent: \(underWay)\(waiting), which is the limit")
        shed = LimitRejection(
            .limit,
            "was not sent: a request with a higher priority took its place, because \(underWay)\(waiting), which is the limit"
        )
        impatient = LimitRejection(
            .limit,
            "was not sent: \(underWay), and it waited for \(patience ?? .zero), which is the limit"
        )
    }
}

extension LimitRejection {
    fileprivate static let lateInQueue = Self(.deadline, "was not sent: it got no permit before its deadline")
    fileprivate static let cancelledInQueue = Self(.cancellation, "was cancelled before it got a permit")
}

/// The queue of a ``ConcurrencyLimiter``, which decides which requests proceed: a value without a clock or tasks.
///
/// Waiters with the highest priority proceed first, in order of arrival within a priority. No request waits while there are
/// permits.
struct ConcurrencyQueue<Waiter> {
    /// The identity of a waiter. The greatest ticket is next.
    struct Ticket: Comparable {
        let priority: TaskPriority
        fileprivate let number: UInt64

        static func < (left: Self, right: Self) -> Bool {
            left.priority == right.priority ? left.number > right.number : left.priority < right.priority
        }
    }

    /// The outcome of an arrival.
    enum Arrival {
        case goes
        /// The request waits, displacing another one if the queue was full.
        case waits(Ticket, insteadOf: Waiter?)
        case refused
    }

    private struct Place {
        let ticket: Ticket
        let waiter: Waiter
    }

    /// The maximum number of requests under way, at least one.
    private(set) var limit: Int
    /// The maximum number of waiters. When it falls, current waiters stay.
    var capacity: Int
    private(set) var underWay = 0
    /// Sorted by ticket, so that the last one is next.
    private var places: [Place] = []
    private var lastNumber: UInt64 = 0

    init(limit: Int, capacity: Int) {
        self.limit = max(1, limit)
        self.capacity = max(0, capacity)
    }

    /// The number of waiters.
    var waiting: Int { places.count }

    /// Admits a request if there is a permit. An admitted request must be released.
    mutating func admit() -> Bool {
        guard underWay < limit else { return false }
        underWay += 1
        return true
    }

    /// Admits a request, or enqueues it if there is no permit.
    ///
    /// - Complexity: O(n) moves in the number of waiters.
    mutating func arrive(_ waiter: Waiter, priority: TaskPriority) -> Arrival {
        if admit() { return .goes }
        var shed: Waiter?
        if places.count >= capacity {
            guard let last = places.first, last.ticket.priority < priority else { return .refused }
            shed = last.waiter
            places.removeFirst()
        }
        lastNumber += 1
        let ticket = Ticket(priority: priority, number: lastNumber)
        places.insert(Place(ticket: ticket, waiter: waiter), at: index(of: ticket))
        return .waits(ticket, insteadOf: shed)
    }

    /// Removes a waiter; returns `false` if it was removed already.
    ///
    /// - Complexity: O(n) moves in the number of waiters.
    @discardableResult
    mutating func leave(_ ticket: Ticket) -> Bool {
        let index = index(of: ticket)
        guard index < places.count, places[index].ticket == ticket else { return false }
        places.remove(at: index)
        return true
    }

    /// Releases the permit of a request.
    ///
    /// - Returns: The waiters admitted as a result, which must be released.
    mutating func release() -> [Waiter] {
        underWay -= 1
        return admitWaiting()
    }

    /// Changes the limit without affecting requests under way.
    ///
    /// - Returns: The waiters admitted as a result, which must be released.
    mutating func change(limit: Int) -> [Waiter] {
        self.limit = max(1, limit)
        return admitWaiting()
    }

    private mutating func admitWaiting() -> [Waiter] {
        guard !places.isEmpty else { return [] }
        var admitted: [Waiter] = []
        while underWay < limit, let next = places.popLast() {
            underWay += 1
            admitted.append(next.waiter)
        }
        return admitted
    }

    /// Returns the index of a ticket, or the index at which to insert it.
    private func index(of ticket: Ticket) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
