#if SQLite
import Foundation

extension Date {
    /// A number for the time that is in order as times are, and of which the time is made again bit for bit.
    ///
    /// A time that is no number has that of the earliest: it is never reached, and what expires then is never given.
    var orderedBits: Int64 {
        let seconds = timeIntervalSinceReferenceDate
        return seconds.isNaN ? .min : Self.flipped(Int64(bitPattern: seconds.bitPattern))
    }

    /// The time that a number is for.
    init(orderedBits: Int64) {
        self.init(
            timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: Self.flipped(orderedBits)))
        )
    }

    // Doubles below zero are in the order of their bits from behind, but for the sign.
    private static func flipped(_ bits: Int64) -> Int64 { bits < 0 ? bits ^ .max : bits }
}
#endif
