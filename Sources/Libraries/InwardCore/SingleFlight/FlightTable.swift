/// The flights that can be joined.
///
/// A key is hashed once, by whoever looks for its flight, and kept once, in the flight. Of two keys with the same hash value
/// the later one has the place, and the flight of the earlier one is not joined any more.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Answer: Sendable> {
    @usableFromInline var flights: [Int: Flight<Key, Answer>]
    /// Those that nobody is to join any more, and that are under way still.
    @usableFromInline var detached: [ObjectIdentifier: Flight<Key, Answer>]

    @inlinable
    init() {
        flights = [:]
        detached = [:]
    }

    /// Has nobody join any of them any more.
    mutating func detachAll() {
        for flight in flights.values { detached[ObjectIdentifier(flight)] = flight }
        flights = [:]
    }

    /// The flight for a key, or a new one. The place is looked up once for both.
    @inlinable
    mutating func join(_ key: Key, hash: Int) -> (Flight<Key, Answer>, isFirst: Bool) {
        func join(_ place: inout Flight<Key, Answer>?) -> (Flight<Key, Answer>, isFirst: Bool) {
            if let flight = place, flight.key == key { return (flight, false) }
            let flight = Flight<Key, Answer>(for: key, hash: hash)
            place = flight
            return (flight, true)
        }
        return join(&flights[hash])
    }

    /// Has nobody join a flight any more, and forgets it.
    @inlinable
    mutating func remove(_ flight: Flight<Key, Answer>) {
        func remove(_ place: inout Flight<Key, Answer>?) {
            if place === flight { place = nil }
        }
        remove(&flights[flight.hash])
        if !detached.isEmpty { detached[ObjectIdentifier(flight)] = nil }
    }
}
