import InwardCore
import Synchronization

/// A memory budget for the images that are being decoded and processed.
///
/// Loads wait for memory in first-in-first-out order. An image that needs more than the whole budget is rejected.
/// Several loaders can share a budget.
///
/// In addition, encoded images that are being fetched or are waiting for decoding may use an eighth of the budget. No
/// other image is fetched while that is used up. The size of an image is known only after it is fetched, so a burst of
/// unexpectedly large images can exceed this part at first.
public final class DecodingBudget: Sendable {
    /// A reservation of memory. It is returned to the budget when the last reference is released.
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

    /// The budget for encoded images that have not been decoded yet.
    let fetchingRoom: EncodedByteBudget
    private let queue: Mutex<WeightedSemaphore<Waiter>>

    /// Creates a budget.
    ///
    /// - Parameter bytes: The number of bytes. Negative numbers count as 0.
    public init(bytes: Int = 512 * 1_024 * 1_024) {
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8)
        queue = Mutex(WeightedSemaphore(limit: bytes))
    }

    /// The total number of bytes.
    public var limit: Int { queue.withLock { $0.limit } }
    /// The number of reserved bytes.
    public var taken: Int { queue.withLock { $0.taken } }

    /// Returns why an image that needs this many bytes is rejected, as the end of a sentence, or `nil` if it fits.
    func refusal(of bytes: Int, for header: ImageHeader) -> String? {
        guard bytes > limit else { return nil }
        let work = bytes > header.bytes(reducedBy: 1) ? "decode and process" : "decode"
        return "is \(header.size) and takes \(bytes) bytes to \(work), more than the \(limit) allowed"
    }

    /// Waits for a reservation, and returns `nil` if the task is cancelled first. `bytes` must not exceed the limit,
    /// because the wait would never end.
    func admission(of bytes: Int) async -> Admission? {
        let place = queue.withLock { $0.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())) }
        guard let place else { return Admission(bytes, of: self) }
        // Decoding has no deadline of its own, because its waiters have different deadlines.
        if case .fulfilled(let admission) = await place.waiter.promise.value(until: nil) { return admission }
        admit(queue.withLock { $0.leave(place.id) })
        return nil
    }

    /// Returns a reservation at once, even if it exceeds the budget. No other reservation is granted until the budget
    /// recovers.
    ///
    /// Use it if you already hold a reservation. Two holders that wait for more would deadlock.
    func overdraft(of bytes: Int) -> Admission {
        queue.withLock { $0.overdraw(bytes) }
        return Admission(bytes, of: self)
    }

    private func giveBack(_ bytes: Int) {
        admit(queue.withLock { $0.giveBack(bytes) })
    }

    /// Grants reservations to waiters. If a waiter has left in the meantime, its reservation is released at once.
    private func admit(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.promise.fulfill(Admission(waiter.bytes, of: self)) }
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
