#if SQLite
import Foundation
import Testing

@testable import InwardSQLite

struct DateOrderedBitsTests {
    private static let seconds: [Double] = [
        -.infinity, -1e300, -2, -1.5, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 0.5, 1, 800_000_000,
        1e300,
        .infinity,
    ]

    @Test func integersSortLikeTheirDates() {
        let numbers = Self.seconds.map { Date(timeIntervalSinceReferenceDate: $0).orderedBits }
        #expect(numbers == numbers.sorted())
    }

    @Test(arguments: seconds) func dateIsRestoredBitForBit(seconds: Double) {
        let date = Date(orderedBits: Date(timeIntervalSinceReferenceDate: seconds).orderedBits)
        #expect(date.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
    }

    @Test(arguments: [Double.nan, -Double.nan]) func nanIsTheEarliestDate(seconds: Double) {
        #expect(Date(timeIntervalSinceReferenceDate: seconds).orderedBits == .min)
    }
}
#endif
