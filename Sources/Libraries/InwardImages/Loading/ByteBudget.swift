import InwardCore
import Synchronization

/// A number of bytes of memory, for which callers wait in first-in-first-out order.
final class ByteBudget: Sendable {
    /// A reservation of memory. It is returned to the budget when the last reference is released.
    final class Reservation: Sendable {
        private let bytes: Mutex<Int>
        private let budget: ByteBudget

        fileprivate init(_ bytes: Int, of budget: ByteBudget) {
            self.bytes = Mutex(bytes)
            self.budget = budget
        }

        deinit { budget.giveBack(bytes.withLock(\.self)) }

        /// Changes the number of reserved bytes at once, even if that exceeds the budget.
        func resize(to count: Int) {
            let excess = bytes.withLock { bytes in
                defer { bytes = count }
                return bytes - count
            }
            budget.giveBack(excess)
        }
    }

    private struct Waiter {
        let bytes: Int
        let promise: Promise<Reservation>
    }

    /// The total number of bytes.
    let limit: Int
    private let queue: Mutex<WeightedSemaphore<Waiter>>

    /// Creates a budget.
    ///
    /// - Parameter bytes: The number of bytes. Negative numbers count as 0.
    init(bytes: Int) {
        let semaphore = WeightedSemaphore<Waiter>(limit: bytes)
        limit = semaphore.limit
        queue = Mutex(semaphore)
    }

    /// The number of reserved bytes.
    var taken: Int { queue.withLock(\.taken) }

    /// Waits for a reservation, and returns `nil` if the task is cancelled first. `bytes` must not exceed the limit,
    /// because the wait would never end.
    func reservation(of bytes: Int) async -> Reservation? {
        let waiting = queue.withLock { $0.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())) }
        guard let waiting else { return Reservation(bytes, of: self) }
        // Neither fetching nor decoding has a deadline of its own, because the loads that share it have different ones.
        if case .fulfilled(let reservation) = await waiting.waiter.promise.value(until: nil) { return reservation }
        admit(queue.withLock { $0.leave(waiting.id) })
        return nil
    }

    /// Returns a reservation at once, even if it exceeds the budget. No other reservation is granted until the budget
    /// recovers.
    ///
    /// Use it if you already hold a reservation. Two holders that wait for more would deadlock.
    func overdraft(of bytes: Int) -> Reservation {
        queue.withLock { $0.overdraw(bytes) }
        return Reservation(bytes, of: self)
    }

    private func giveBack(_ bytes: Int) {
        admit(queue.withLock { $0.giveBack(bytes) })
    }

    /// Grants reservations to waiters. If a waiter has left in the meantime, its reservation is released at once.
    private func admit(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.promise.fulfill(Reservation(waiter.bytes, of: self)) }
    }
}

/// A first-in-first-out weighted semaphore.
///
/// A small request waits behind a large one, which would otherwise starve.
struct WeightedSemaphore<Waiter> {
    private struct Entry {
        let id: Int
        let amount: Int
        let waiter: Waiter
    }

    let limit: Int
    private(set) var taken = 0
    private var waiting: [Entry] = []
    private var nextID = 0

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// The number of waiters.
    var waitingCount: Int { waiting.count }

    /// Takes an amount if it is available and there are no waiters. Otherwise adds a waiter and returns it with its
    /// identifier.
    mutating func take(_ amount: Int, orWait waiter: @autoclosure () -> Waiter) -> (id: Int, waiter: Waiter)? {
        if waiting.isEmpty, amount <= limit - taken {
            taken += amount
            return nil
        }
        nextID += 1
        let entry = Entry(id: nextID, amount: amount, waiter: waiter())
        waiting.append(entry)
        return (entry.id, entry.waiter)
    }

    /// Takes an amount even if it is not available, ahead of all waiters.
    mutating func overdraw(_ amount: Int) {
        taken += amount
    }

    /// Returns an amount to the semaphore.
    ///
    /// - Returns: The waiters that are now admitted, in order.
    mutating func giveBack(_ amount: Int) -> [Waiter] {
        taken -= amount
        return admitted()
    }

    /// Removes a waiter.
    ///
    /// - Returns: The waiters behind it that are now admitted, in order.
    mutating func leave(_ id: Int) -> [Waiter] {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return [] }
        waiting.remove(at: index)
        return admitted()
    }

    private mutating func admitted() -> [Waiter] {
        var admitted: [Waiter] = []
        for entry in waiting {
            guard entry.amount <= limit - taken else { break }
            taken += entry.amount
            admitted.append(entry.waiter)
        }
        waiting.removeFirst(admitted.count)
        return admitted
    }
}
