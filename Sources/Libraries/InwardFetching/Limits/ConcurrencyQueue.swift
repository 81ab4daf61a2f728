/// Decides who goes and who waits: a value without a clock or a task, for a ``ConcurrencyLimiter``.
///
/// Of those who wait the highest priority goes first, and of one priority who came first. Nobody waits while there is room.
struct ConcurrencyQueue<Waiter> {
    /// Names somebody who waits. Who has the greatest ticket goes next.
    struct Ticket: Comparable {
        let priority: TaskPriority
        fileprivate let number: UInt64

        static func < (left: Self, right: Self) -> Bool {
            left.priority == right.priority ? left.number > right.number : left.priority < right.priority
        }
    }

    /// What becomes of somebody who comes.
    enum Arrival {
        case goes
        /// It waits, in the place of another one if there was no place left.
        case waits(Ticket, insteadOf: Waiter?)
        case refused
    }

    private struct Place {
        let ticket: Ticket
        let waiter: Waiter
    }

    /// How many may be under way, at least one.
    private(set) var limit: Int
    /// How many may wait.
    let capacity: Int
    private(set) var underWay = 0
    /// In the order of their tickets, so that the last one goes next.
    private var places: [Place] = []
    private var lastNumber: UInt64 = 0

    init(limit: Int, capacity: Int) {
        self.limit = max(1, limit)
        self.capacity = max(0, capacity)
    }

    /// How many wait.
    var waiting: Int { places.count }

    /// Lets somebody go if there is room. Who goes has to be released.
    mutating func admit() -> Bool {
        guard underWay < limit else { return false }
        underWay += 1
        return true
    }

    /// Lets somebody go, or wait if there is no room.
    ///
    /// - Complexity: O(n) moves in the number of those who wait.
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

    /// Takes out somebody who waits no longer; `false` if it is out already.
    ///
    /// - Complexity: O(n) moves in the number of those who wait.
    @discardableResult
    mutating func leave(_ ticket: Ticket) -> Bool {
        let index = index(of: ticket)
        guard index < places.count, places[index].ticket == ticket else { return false }
        places.remove(at: index)
        return true
    }

    /// Takes back the room of somebody who went.
    ///
    /// - Returns: who goes now, and has to be released.
    mutating func release() -> [Waiter] {
        underWay -= 1
        return admitWaiting()
    }

    /// Changes how many may be under way. Nobody who is has to come back for it.
    ///
    /// - Returns: who goes now, and has to be released.
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

    /// Where a ticket is, or belongs.
    private func index(of ticket: Ticket) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
