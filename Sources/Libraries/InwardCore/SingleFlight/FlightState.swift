/// Who waits for a piece of work that is under way, and its answer once it is there.
///
/// It begins with one who has not begun to wait, and is abandoned when the last of them has left. It is inlinable, like all that
/// it is used by, so that it is compiled for the types that it is used with: otherwise they are looked up at each call.
@usableFromInline
struct FlightState<Answer, Waiter> {
    /// What becomes of somebody who comes aboard.
    @usableFromInline
    enum Boarding {
        case waits(Waiter, seat: Int)
        case landed(Answer)
        case abandoned
    }

    @usableFromInline var seats: [Waiter?]
    @usableFromInline var freeSeats: [Int]
    @usableFromInline var aboard: Int
    /// The answer, once there is one.
    @usableFromInline var landed: Answer?
    /// What does the work, from when the one who began it waits for it.
    @usableFromInline var task: Task<Void, Never>?
    /// Whether the work is cancelled, which may be before it is known what does it.
    @usableFromInline var isCancelled: Bool

    @inlinable
    init() {
        seats = []
        freeSeats = []
        aboard = 1
        landed = nil
        task = nil
        isCancelled = false
    }

    /// Cancels the work.
    ///
    /// - Returns: the task to cancel; `nil` if it is not known yet. Whoever makes it known then cancels it.
    mutating func cancel() -> Task<Void, Never>? {
        isCancelled = true
        return task
    }

    /// Takes on somebody else, who waits in a seat unless the answer is there.
    @inlinable
    mutating func board(_ waiter: @autoclosure () -> Waiter) -> Boarding {
        if let landed { return .landed(landed) }
        guard aboard > 0 else { return .abandoned }
        aboard += 1
        return seat(waiter())
    }

    /// Lets the one who began it take a seat too, unless the answer is there.
    @inlinable
    mutating func seatFirst(_ waiter: @autoclosure () -> Waiter, of task: Task<Void, Never>) -> Boarding {
        if let landed { return .landed(landed) }
        self.task = task
        return seat(waiter())
    }

    /// Lets somebody leave a seat, who is told nothing any more.
    ///
    /// - Parameters:
    ///   - seat: Where it sat.
    ///   - goesOn: Whether the work goes on although nobody is left.
    /// - Returns: what does the work, if it is abandoned now.
    @inlinable
    mutating func leave(seat: Int, goesOn: Bool) -> Task<Void, Never>? {
        guard landed == nil, seats[seat] != nil else { return nil }
        seats[seat] = nil
        freeSeats.append(seat)
        guard !goesOn else { return nil }
        aboard -= 1
        return aboard == 0 ? task : nil
    }

    @inlinable
    mutating func seat(_ waiter: Waiter) -> Boarding {
        if let free = freeSeats.popLast() {
            seats[free] = waiter
            return .waits(waiter, seat: free)
        }
        seats.append(waiter)
        return .waits(waiter, seat: seats.count - 1)
    }

    /// Ends it with an answer.
    ///
    /// - Returns: those who wait for it, in the order they came.
    @inlinable
    mutating func land(_ answer: Answer) -> [Waiter] {
        landed = answer
        guard !seats.isEmpty else { return [] }
        defer { seats = [] }
        // No key path: where the types are not known, each use of one makes it anew.
        return seats.compactMap { $0 }
    }
}
