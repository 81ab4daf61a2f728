public import Synchronization

/// A piece of work for a key that is under way, shared by those who wait for it.
@usableFromInline
final class Flight<Key: Sendable, Answer: Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let hash: Int
    @usableFromInline let state: Mutex<FlightState<Answer, Promise<Answer>>>

    @inlinable
    init(for key: Key, hash: Int) {
        self.key = key
        self.hash = hash
        state = Mutex(FlightState())
    }
}
