import InwardCore
import Synchronization

/// How many bytes the images that are being decoded and processed may take together. They take turns in the order they came;
/// one that takes more alone is refused.
///
/// An eighth of it more is for encoded images that are fetched or wait for their turn: while they take that, no other is fetched.
/// How large an image is shows when it is there, so a crowd of larger ones than before may take more at first.
///
/// It can be handed to several loaders, which then share it.
public final class DecodingBudget: Sendable {
    /// A share of the budget, which goes back when nobody holds it any more.
    final class Admission: Sendable {
        private let bytes: Int
        private let budget: DecodingBudget

        fileprivate init(_ bytes: Int, of budget: DecodingBudget) {
            self.bytes = bytes
            self.budget = budget
        }

        deinit { budget.giveBack(bytes) }
    }

    private struct Waiter {
        let bytes: Int
        let promise: Promise<Admission>
    }

    /// The room for images that are not decoded yet.
    let fetchingRoom: EncodedByteBudget
    private let queue: Mutex<WeightedSemaphore<Waiter>>

    /// Makes a budget.
    ///
    /// - Parameter bytes: How many bytes there are; taken for 0 if it is less.
    public init(bytes: Int = 512 * 1_024 * 1_024) {
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8)
        queue = Mutex(WeightedSemaphore(limit: bytes))
    }

    /// How many bytes there are in all.
    public var limit: Int { queue.withLock { $0.limit } }
    /// How many bytes are taken.
    public var taken: Int { queue.withLock { $0.taken } }

    /// Why an image is refused that takes so many bytes, as the end of a sentence; `nil` if it is not.
    func refusal(of bytes: Int, for header: ImageHeader) -> String? {
        guard bytes > limit else { return nil }
        let work = bytes > header.bytes(reducedBy: 1) ? "decode and process" : "decode"
        return "is \(header.size) and takes \(bytes) bytes to \(work), more than the \(limit) allowed"
    }

    /// A share of so many bytes, once they are there; `nil` if the task was cancelled before. They are no more than the limit:
    /// it would wait for ever.
    func admission(of bytes: Int) async -> Admission? {
        let place = queue.withLock { $0.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())) }
        guard let place else { return Admission(bytes, of: self) }
        // Decoding has no deadline of its own, because those who wait for it have different ones.
        if case .fulfilled(let admission) = await place.waiter.promise.value(until: nil) { return admission }
        admit(queue.withLock { $0.leave(place.id) })
        return nil
    }

    /// A share of so many bytes at once, whether they are there or not. Nobody gets another before they are.
    ///
    /// It is for whoever holds a share already: two of them might wait for each other.
    func overdraft(of bytes: Int) -> Admission {
        queue.withLock { $0.overdraw(bytes) }
        return Admission(bytes, of: self)
    }

    private func giveBack(_ bytes: Int) {
        admit(queue.withLock { $0.giveBack(bytes) })
    }

    /// Hands out what was taken for others. Who has left meanwhile does not take it, and it goes back at once.
    private func admit(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.promise.fulfill(Admission(waiter.bytes, of: self)) }
    }
}

/// Who may take how much of something that there is so much of, first come first served.
///
/// Nobody overtakes: whoever wants little waits behind whoever wants much, which would otherwise wait for ever.
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
