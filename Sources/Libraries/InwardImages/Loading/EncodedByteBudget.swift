import InwardCore
import Synchronization

/// A memory budget for encoded images, from before the fetch until they are decoded. While it is used up, no fetch
/// starts until some images are decoded. Otherwise a burst of requests would hold all its encoded images in memory at
/// once.
///
/// The size of an image is known only after it is fetched. Until then, the budget reserves the average size of recent
/// images.
final class EncodedByteBudget: Sendable {
    /// A reservation of memory. It is returned to the budget when the last reference is released.
    final class Place: Sendable {
        private let bytes: Mutex<Int>
        private let room: EncodedByteBudget

        fileprivate init(_ bytes: Int, in room: EncodedByteBudget) {
            self.bytes = Mutex(bytes)
            self.room = room
        }

        deinit { room.change(by: -bytes.withLock(\.self)) }

        /// Adjusts the reservation to the actual size of the fetched image.
        func settle(on count: Int) {
            let change = bytes.withLock { bytes in
                defer { bytes = count }
                return count - bytes
            }
            room.learn(count, change)
        }
    }

    private struct Waiter {
        let bytes: Int
        let promise: Promise<Place>
    }

    private struct State {
        var queue: WeightedSemaphore<Waiter>
        var expected: Int
    }

    /// The size that is reserved for the first image, and the minimum reservation.
    private static let (firstExpected, leastExpected) = (1_024 * 1_024, 16 * 1_024)
    /// The weight of the moving average: each image moves it by one eighth of the difference.
    private static let inertia = 8

    private let state: Mutex<State>

    init(bytes: Int) {
        state = Mutex(State(queue: WeightedSemaphore(limit: bytes), expected: min(Self.firstExpected, max(0, bytes))))
    }

    /// The number of reserved bytes.
    var taken: Int { state.withLock(\.queue.taken) }

    /// Waits for a reservation for one image, and returns `nil` if the task is cancelled first.
    func place() async -> Place? {
        let (bytes, waiting) = state.withLock { state in
            let bytes = min(state.expected, state.queue.limit)
            return (bytes, state.queue.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())))
        }
        guard let waiting else { return Place(bytes, in: self) }
        // Fetching has no deadline of its own, because its waiters have different deadlines.
        if case .fulfilled(let place) = await waiting.waiter.promise.value(until: nil) { return place }
        admit(state.withLock { $0.queue.leave(waiting.id) })
        return nil
    }

    private func learn(_ count: Int, _ change: Int) {
        admit(
            state.withLock { state in
                state.expected = max(Self.leastExpected, state.expected + (count - state.expected) / Self.inertia)
                return state.queue.giveBack(-change)
            }
        )
    }

    private func change(by change: Int) {
        admit(state.withLock { $0.queue.giveBack(-change) })
    }

    /// Grants reservations to waiters. If a waiter has left in the meantime, its reservation is released at once.
    private func admit(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.promise.fulfill(Place(waiter.bytes, in: self)) }
    }
}
