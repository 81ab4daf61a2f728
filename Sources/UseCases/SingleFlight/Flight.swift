/// A piece of work that is under way, and those who wait for its answer.
///
/// It begins with one who has not begun to wait, and is abandoned when the last of them has left. It is inlinable, like all that
/// it is used by, so that it is compiled for the types that it is used with: otherwise they are looked up at each call.
@usableFromInline
struct Flight<Answer, Waiter> {
    /// What becomes of somebody who comes aboard.
    @usableFromInline
    enum Boarding {
        case waits(seat: Int)
        case landed(Answer)
        case abandoned
    }

    @usableFromInline var seats: [Waiter?]
    @usableFromInline var freeSeats: [Int]
    @usableFromInline var aboard: Int
    /// The answer, once there is one.
    @usableFromInline var landed: Answer?

    @inlinable
    init() {
        seats = []
        freeSeats = []
        aboard = 1
        landed = nil
    }

    /// Takes on somebody else, who waits in a seat unless the answer is there.
    @inlinable
    mutating func board(_ waiter: Waiter) -> Boarding {
        if let landed { return .landed(landed) }
        guard aboard > 0 else { return .abandoned }
        aboard += 1
        return .waits(seat: seat(waiter))
    }

    /// Lets the one who began it take a seat too, unless the answer is there.
    @inlinable
    mutating func seatFirst(_ waiter: Waiter) -> Boarding {
        if let landed { return .landed(landed) }
        return .waits(seat: seat(waiter))
    }

    /// Lets somebody leave a seat, who is told nothing any more.
    ///
    /// - Parameters:
    ///   - seat: Where it sat.
    ///   - goesOn: Whether the work goes on although nobody is left.
    /// - Returns: whether it is abandoned now.
    @inlinable
    mutating func leave(seat: Int, goesOn: Bool) -> Bool {
        guard landed == nil, seats[seat] != nil else { return false }
        seats[seat] = nil
        freeSeats.append(seat)
        guard !goesOn else { return false }
        aboard -= 1
        return aboard == 0
    }

    @inlinable
    mutating func seat(_ waiter: Waiter) -> Int {
        if let free = freeSeats.popLast() {
            seats[free] = waiter
            return free
        }
        seats.append(waiter)
        return seats.count - 1
    }

    /// Ends it with an answer.
    ///
    /// - Returns: those who wait for it, in the order they came.
    @inlinable
    mutating func land(_ answer: Answer) -> [Waiter] {
        landed = answer
        defer { seats = [] }
        // No key path: where the types are not known, each use of one makes it anew.
        return seats.compactMap { $0 }
    }
}
