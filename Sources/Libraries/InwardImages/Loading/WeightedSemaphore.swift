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
