import Testing

@testable import InwardCore

struct FlightTableTests {
    private var table = FlightTable<String, Int>()

    @Test mutating func equalKeysShareAFlightUntilItIsRemoved() {
        let (first, began) = table.join("a", hash: 1)
        let (second, beganAgain) = table.join("a", hash: 1)
        #expect(began && !beganAgain && first === second)
        table.remove(first)
        #expect(table.join("a", hash: 1).isFirst)
    }

    @Test mutating func detachedFlightCannotBeJoinedAndIsRemovedAtItsEnd() {
        let (first, _) = table.join("a", hash: 1)
        table.detachAll()
        let (second, isFirst) = table.join("a", hash: 1)
        #expect(isFirst && first !== second)
        #expect(table.detached.values.contains { $0 === first })
        table.remove(first)
        #expect(table.detached.isEmpty && table.flights.count == 1)
    }

    @Test mutating func keysWithEqualHashValuesDoNotShareAFlight() {
        let (first, _) = table.join("a", hash: 1)
        let (second, isFirst) = table.join("b", hash: 1)
        #expect(isFirst && second.key == "b")
        table.remove(first)
        #expect(table.join("b", hash: 1).0 === second, "Removing the first flight removed the second.")
    }
}
