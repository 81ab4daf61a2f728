#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When a source said to ask again (RFC 9110 section 10.2.3).
public enum RetryAfter: Hashable, Sendable {
    /// After this long, which is never negative.
    case delay(Duration)
    /// At this moment, by the source's clock.
    case date(Date)

    /// Reads what the header fields of an answer say; `nil` if they say nothing that can be understood.
    ///
    /// A date becomes a delay where the answer tells its own date too, so that the clocks need not agree.
    public init?(_ fields: HeaderFields) {
        guard let text = fields.values(of: .retryAfter).first else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More seconds than a number holds is as good as the largest delay that can be told: a year.
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
    /// Reads the date of an HTTP header field in its preferred form (RFC 9110 section 5.6.7), such as
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` if the text is not such a date, or names a day or a time that does not exist.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, Self.dayNames.contains(String(parts[0])), parts[5] == "GMT",
            let month = Self.monthNames.firstIndex(of: String(parts[2]))
        else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        // ISO 8601 is the form that the platform reads everywhere. It also reads other forms, and the 31st of February as a day in
        // March, so the date has to be what was written.
        let text = "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z"
        guard let date = try? Date(text, strategy: .iso8601), date.formatted(.iso8601) == text else { return nil }
        self = date
    }

    /// Which of them it is does not matter: the rest of a date says it.
    private static let dayNames: Set = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
