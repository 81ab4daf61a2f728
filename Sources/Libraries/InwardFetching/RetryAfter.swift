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
