#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// Reads the date of an HTTP header field in its preferred form (RFC 9110 section 5.6.7), such as
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` if the text is none.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = Self.monthNames.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        // ISO 8601 is the form that the platform reads everywhere.
        guard let date = try? Date("\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z", strategy: .iso8601) else {
            return nil
        }
        self = date
    }

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
