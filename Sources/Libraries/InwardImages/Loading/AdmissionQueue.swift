/// Who may take how much of something that there is so much of, first come first served.
///
/// Nobody overtakes: whoever wants little waits behind whoever wants much, which would otherwise wait for ever.
struct AdmissionQueue<Waiter> {
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

    /// How many wait.
    var waitingCount: Int { waiting.count }

    /// Takes an amount if it is there and nobody waits; has a waiter wait for it otherwise, under a number.
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

    /// Takes an amount even if it is not there, and whoever waits.
    mutating func overdraw(_ amount: Int) {
        taken += amount
    }

    /// Gives an amount back.
    ///
    /// - Returns: those who have theirs now, in the order they came.
    mutating func giveBack(_ amount: Int) -> [Waiter] {
        taken -= amount
        return admitted()
    }

    /// Has nobody wait under a number any more.
    ///
    /// - Returns: those behind it who have theirs now, in the order they came.
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
