import InwardCore
import Synchronization

/// A budget of memory or permits that parties share fairly. ``WeightedSemaphore`` determines the order of the waiters.
final class FairBudget: Sendable {
    /// A reservation. It is returned to the budget when the last reference is released.
    final class Reservation: Sendable {
        private let amount: Mutex<Int>
        private let party: Int
        private let budget: FairBudget

        fileprivate init(_ amount: Int, for party: Int, of budget: FairBudget) {
            self.amount = Mutex(amount)
            self.party = party
            self.budget = budget
        }

        deinit { budget.giveBack(amount.withLock(\.self), of: party) }

        /// Changes the reserved amount at once, even if that exceeds the budget.
        func resize(to count: Int) {
            let excess = amount.withLock { amount in
                defer { amount = count }
                return amount - count
            }
            budget.giveBack(excess, of: party)
        }
    }

    private struct Waiter {
        let amount: Int
        let party: Int
        let promise: Promise<Reservation>
    }

    /// The total amount.
    let limit: Int
    private let queue: Mutex<WeightedSemaphore<Waiter>>
    private let noteChange: (@Sendable (DecodingBudget.Status) -> Void)?
    private let changes = ChangeReport()

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The total amount. Negative numbers count as 0.
    ///   - leavesRoom: Whether parties leave room for others, as ``WeightedSemaphore/init(limit:leavingRoom:)`` describes.
    ///   - noteChange: Called with the status after each change, or `nil`.
    init(
        _ limit: Int,
        leavingRoom leavesRoom: Bool = false,
        noteChange: (@Sendable (DecodingBudget.Status) -> Void)? = nil
    ) {
        self.noteChange = noteChange
        let semaphore = WeightedSemaphore<Waiter>(limit: limit, leavingRoom: leavesRoom)
        self.limit = semaphore.limit
        queue = Mutex(semaphore)
    }

    /// The reserved amount.
    var taken: Int { queue.withLock(\.taken) }

    /// The reserved amount and the number of waiters.
    var status: DecodingBudget.Status {
        queue.withLock {
            DecodingBudget.Status(limit: $0.limit, reservedBytes: $0.taken, waitingCount: $0.waitingCount)
        }
    }

    /// Waits for a reservation, and returns `nil` if the task is cancelled first. If `amount` exceeds the limit, the wait never
    /// ends.
    func reservation(of amount: Int, for party: Int) async -> Reservation? {
        let waiting = queue.withLock { queue in
            queue.take(amount, for: party, orWait: Waiter(amount: amount, party: party, promise: Promise()))
        }
        reportChange()
        guard let waiting else { return Reservation(amount, for: party, of: self) }
        // No deadline here: several loads with different deadlines can share this wait.
        if case .fulfilled(let reservation) = await waiting.waiter.promise.value(until: nil) { return reservation }
        admit(queue.withLock { $0.leave(waiting.id, of: party) })
        return nil
    }

    /// Returns a reservation at once, even if it exceeds the budget. No other reservation is granted until the budget recovers.
    ///
    /// Use it if you already hold a reservation. Two holders that each wait for more would deadlock.
    func overdraft(of amount: Int, for party: Int) -> Reservation {
        queue.withLock { $0.overdraw(amount, for: party) }
        reportChange()
        return Reservation(amount, for: party, of: self)
    }

    private func giveBack(_ amount: Int, of party: Int) {
        admit(queue.withLock { $0.giveBack(amount, of: party) })
    }

    private func reportChange() {
        guard let noteChange else { return }
        changes.tell { noteChange(status) }
    }

    /// Grants reservations to waiters. If a waiter has left in the meantime, its reservation is released at once.
    private func admit(_ waiters: [Waiter]) {
        reportChange()
        for waiter in waiters {
            waiter.promise.fulfill(Reservation(waiter.amount, for: waiter.party, of: self))
        }
    }
}

/// A weighted semaphore that parties share fairly. The waiting party that holds the least is next. Within a party, and between
/// parties that hold the same amount, the order is first in, first out.
///
/// A small request does not overtake a large one that is next, even if only the small one fits. Otherwise the large one would
/// starve.
struct WeightedSemaphore<Waiter> {
    private struct Entry {
        let id: Int
        let amount: Int
        let waiter: Waiter
    }

    private struct Party {
        var held = 0
        var waiting: [Entry] = []

        /// The sort key for the next party, the smallest first, or `nil` if the party does not wait.
        var rank: (held: Int, id: Int)? { waiting.first.map { (held, $0.id) } }
    }

    let limit: Int
    private let leavesRoom: Bool
    private(set) var taken = 0
    /// The number of waiters.
    private(set) var waitingCount = 0
    /// The parties that hold an amount or wait for one.
    private var parties: [Int: Party] = [:]
    private var nextID = 0

    /// Creates a semaphore.
    ///
    /// - Parameters:
    ///   - limit: The total amount.
    ///   - leavesRoom: Whether a party that already holds something can take more only if the amount left free is at least its
    ///     new total. So a single party holds at most half, two parties a third each, and a new party always finds room.
    init(limit: Int, leavingRoom leavesRoom: Bool = false) {
        self.limit = max(0, limit)
        self.leavesRoom = leavesRoom
    }

    /// Takes an amount if it is available and no waiting party has precedence. Otherwise adds a waiter and returns it with its
    /// identifier.
    mutating func take(
        _ amount: Int,
        for party: Int,
        orWait waiter: @autoclosure () -> Waiter
    ) -> (id: Int, waiter: Waiter)? {
        let held = parties[party]?.held ?? 0
        if next.map({ $0.held > held }) ?? true, isAvailable(amount, holding: held) {
            overdraw(amount, for: party)
            return nil
        }
        nextID += 1
        let entry = Entry(id: nextID, amount: amount, waiter: waiter())
        parties[party, default: Party()].waiting.append(entry)
        waitingCount += 1
        return (entry.id, entry.waiter)
    }

    /// Takes an amount even if it is not available, ahead of all waiters.
    mutating func overdraw(_ amount: Int, for party: Int) {
        taken += amount
        parties[party, default: Party()].held += amount
    }

    /// Returns an amount to the semaphore.
    ///
    /// - Returns: The waiters that are now admitted, in order.
    mutating func giveBack(_ amount: Int, of party: Int) -> [Waiter] {
        taken -= amount
        // Admit other parties first. While they are admitted, this party still counts as holding the amount.
        let others = admitted()
        parties[party, default: Party()].held -= amount
        forgetIfIdle(party)
        return others + admitted()
    }

    /// Removes a waiter.
    ///
    /// - Returns: The waiters that are now admitted, in order.
    mutating func leave(_ id: Int, of party: Int) -> [Waiter] {
        guard let index = parties[party]?.waiting.firstIndex(where: { $0.id == id }) else { return [] }
        parties[party]?.waiting.remove(at: index)
        waitingCount -= 1
        forgetIfIdle(party)
        return admitted()
    }

    private mutating func admitted() -> [Waiter] {
        var admitted: [Waiter] = []
        while let (party, held) = next, let entry = parties[party]?.waiting.first,
            isAvailable(entry.amount, holding: held)
        {
            parties[party]?.waiting.removeFirst()
            waitingCount -= 1
            overdraw(entry.amount, for: party)
            admitted.append(entry.waiter)
        }
        return admitted
    }

    /// The next party and the amount that it holds, or `nil` if no party waits.
    ///
    /// - Complexity: O(n) in the number of parties, O(1) if no party waits.
    private var next: (party: Int, held: Int)? {
        guard waitingCount > 0 else { return nil }
        var next: (party: Int, rank: (held: Int, id: Int))?
        for (number, party) in parties {
            guard let rank = party.rank else { continue }
            if let best = next, best.rank < rank { continue }
            next = (number, rank)
        }
        return next.map { ($0.party, $0.rank.held) }
    }

    private func isAvailable(_ amount: Int, holding held: Int) -> Bool {
        let left = limit - taken - amount
        return left >= 0 && (!leavesRoom || held == 0 || left >= held + amount)
    }

    private mutating func forgetIfIdle(_ party: Int) {
        if let idle = parties[party], idle.held == 0, idle.waiting.isEmpty { parties[party] = nil }
    }
}
