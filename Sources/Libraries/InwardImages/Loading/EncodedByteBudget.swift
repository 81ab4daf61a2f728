import InwardCore
import Synchronization

/// Room for encoded images from when they are asked for until they are decoded. Where it is full, nobody begins to fetch until
/// some of them are decoded: otherwise all that a crowd asks for would be in memory, and wait there.
///
/// How large an image is shows when it is there. Until then it counts as much as images have been lately.
final class EncodedByteBudget: Sendable {
    /// A part of the room, which goes back when nobody holds it any more.
    final class Place: Sendable {
        private let bytes: Mutex<Int>
        private let room: EncodedByteBudget

        fileprivate init(_ bytes: Int, in room: EncodedByteBudget) {
            self.bytes = Mutex(bytes)
            self.room = room
        }

        deinit { room.change(by: -bytes.withLock(\.self)) }

        /// Counts as much as the image has, now that it is there.
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

    /// What an image counts before the first one is there, and the least that any counts.
    private static let (firstExpected, leastExpected) = (1_024 * 1_024, 16 * 1_024)
    /// How many images it takes for what is expected to follow what they are.
    private static let inertia = 8

    private let state: Mutex<State>

    init(bytes: Int) {
        state = Mutex(State(queue: WeightedSemaphore(limit: bytes), expected: min(Self.firstExpected, max(0, bytes))))
    }

    /// How many bytes are taken.
    var taken: Int { state.withLock(\.queue.taken) }

    /// A part of the room for an image, once there is one; `nil` if the task was cancelled before.
    func place() async -> Place? {
        let (bytes, waiting) = state.withLock { state in
            let bytes = min(state.expected, state.queue.limit)
            return (bytes, state.queue.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())))
        }
        guard let waiting else { return Place(bytes, in: self) }
        // Fetching has no deadline of its own, because those who wait for it have different ones.
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

    /// Hands out what was taken for others. Who has left meanwhile does not take it, and it goes back at once.
    private func admit(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.promise.fulfill(Place(waiter.bytes, in: self)) }
    }
}
