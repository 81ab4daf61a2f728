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
    /// The maximum number of waiters.
    let capacity: Int
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

    /// Removes a waiter; `false` if it was removed already.
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

    /// Returns the index at which a ticket is, or is to be inserted.
    private func index(of ticket: Ticket) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
