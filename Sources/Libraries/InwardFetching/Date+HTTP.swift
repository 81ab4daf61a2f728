#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
