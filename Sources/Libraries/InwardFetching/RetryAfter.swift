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

extension Date {
    /// Parses the date of an HTTP header field in its preferred form (RFC 9110 section 5.6.7), such as `Sun, 06 Nov 1994
    /// 08:49:37 GMT`; `nil` if the text has another form, or names a day or time that does not exist.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, Self.dayNames.contains(String(parts[0])), parts[5] == "GMT",
            let month = Self.monthNames.firstIndex(of: String(parts[2]))
        else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        // All platforms parse ISO 8601. The parser also accepts other forms, and reads February 31 as a day in March, so
        // compare the formatted result with the input.
        let text = "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z"
        guard let date = try? Date(text, strategy: .iso8601), date.formatted(.iso8601) == text else { return nil }
        self = date
    }

    /// The day name is not checked against the rest of the date.
    private static let dayNames: Set = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
