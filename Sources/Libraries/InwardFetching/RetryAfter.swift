#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The earliest time for a retry (RFC 9110 section 10.2.3).
public enum RetryAfter: Hashable, Sendable {
    /// A delay, which is never negative.
    case delay(Duration)
    /// A date, by the upstream's clock.
    case date(Date)

    /// Reads the `Retry-After` field of a response; `nil` if it is missing or invalid.
    ///
    /// A date becomes a delay if the response also has a `Date` field, so that clock differences do not matter.
    public init?(_ fields: HeaderFields) {
        guard let text = fields.values(of: .retryAfter).first else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // The delay is capped at a year, which also covers numbers that overflow.
            self = .delay(.seconds(min(Int64(text) ?? .max, Self.secondsOfAYear)))
        } else if let date = Date(httpDate: text) {
            let now = fields.values(of: .date).first.flatMap { Date(httpDate: $0) }
            self =
                now.map { .delay(.seconds(min(max(0, date.timeIntervalSince($0)), Double(Self.secondsOfAYear)))) }
                ?? .date(date)
        } else {
            return nil
        }
    }

    private static let secondsOfAYear: Int64 = 31_536_000
}
