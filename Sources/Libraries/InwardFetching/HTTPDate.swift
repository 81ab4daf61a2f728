#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Date {
    /// Parses the date of an HTTP header field (RFC 9110 section 5.6.7); `nil` if the text has another form than these three, or
    /// names a day or time that does not exist:
    ///
    /// - `Sun, 06 Nov 1994 08:49:37 GMT`
    /// - `Sunday, 06-Nov-94 08:49:37 GMT` of RFC 850, which is obsolete
    /// - `Sun Nov  6 08:49:37 1994` of `asctime`, which is obsolete
    ///
    /// Names may have any case (RFC 9111 section 4.2). The day of the week is not compared with the date.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The current date, which determines the century of a year of two digits: such a year is at most 50 years ahead.
    ///     With `nil`, dates with such a year are not accepted.
    init?(httpDate text: String, near now: Date? = nil) {
        let parts = text.withBytes { bytes in
            bytes.preferredForm ?? bytes.asctime ?? now.flatMap { bytes.rfc850(near: $0) }
        }
        guard let (day, time) = parts, day.exists else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(day.daysSince1970 * 86_400 + time))
    }

    /// The date in the preferred form of header fields: `Sun, 06 Nov 1994 08:49:37 GMT`. Dates outside the years 0 to 9999, which have
    /// none, become the nearest one that does.
    var httpDate: String {
        let seconds = Int(timeIntervalSince1970.clamped(to: -62_167_219_200...253_402_300_799).rounded(.down))
        let time = seconds - seconds.dividedDown(by: 86_400) * 86_400
        let day = CivilDay(daysSince1970: seconds.dividedDown(by: 86_400))
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { $0.padded(to: 2) }.joined(separator: ":")
        let month = HTTPDateForm.months[day.month - 1].capitalized
        let weekday = HTTPDateForm.shortDays[day.weekday].capitalized
        return "\(weekday), \(day.day.padded(to: 2)) \(month) \(day.year.padded(to: 4)) \(clock) GMT"
    }
}

extension Int {
    /// Returns the quotient, rounded down.
    fileprivate func dividedDown(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }

    fileprivate func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

/// The forms of dates in lower case, with `_` for what differs. That can be any byte, so every part must be read as well. All parts have
/// fixed places, except after the day of RFC 850.
private enum HTTPDateForm {
    static let preferred = Array("___, __ ___ ____ __:__:__ gmt".utf8)
    static let asctime = Array("___ ___ __ __:__:__ ____".utf8)
    static let rfc850 = Array(", __-___-__ __:__:__ gmt".utf8)

    static let days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    static let shortDays = days.map { String($0.prefix(3)) }
    static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static let bytesOfDays = days.map { Array($0.utf8) }
    static let wordsForShortDays = shortDays.map(word)
    static let wordsForMonths = months.map(word)

    /// Three letters as a number, which is faster to compare.
    private static func word(_ text: String) -> UInt32 { text.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}

// Foundation's parsers accept other forms, and take longer than a whole answer from a cache may.
extension Span<UInt8> {
    fileprivate typealias Moment = (day: CivilDay, time: Int)

    fileprivate var preferredForm: Moment? {
        guard fits(HTTPDateForm.preferred), hasShortDay, let day = number(at: 5), let month = month(at: 8),
            let year = year(at: 12), let time = time(at: 17)
        else { return nil }
        return (CivilDay(year: year, month: month, day: day), time)
    }

    fileprivate var asctime: Moment? {
        guard fits(HTTPDateForm.asctime), hasShortDay, let month = month(at: 4),
            let day = number(at: 8, isPaddedWithSpace: true), let time = time(at: 11), let year = year(at: 20)
        else { return nil }
        return (CivilDay(year: year, month: month, day: day), time)
    }

    fileprivate func rfc850(near now: Date) -> Moment? {
        let name = end(from: 0) { $0 != UInt8(ascii: ",") }
        let rest = extracting(name..<count)
        guard rest.fits(HTTPDateForm.rfc850),
            HTTPDateForm.bytesOfDays.contains(where: { extracting(0..<name).spells($0) }),
            let day = rest.number(at: 2), let month = rest.month(at: 5),
            let year = rest.number(at: 9), let time = rest.time(at: 12)
        else { return nil }
        let latest = CivilDay.year(of: now) + 50
        // The last year with these two digits that is not later.
        let fullYear = latest - (latest - year) % 100
        return (CivilDay(year: fullYear, month: month, day: day), time)
    }

    // MARK: Parts

    /// Whether a text has a form, in either case.
    private func fits(_ form: [UInt8]) -> Bool {
        guard count == form.count else { return false }
        for index in indices where form[index] != UInt8(ascii: "_") && form[index] != self[index].lowercase {
            return false
        }
        return true
    }

    private var hasShortDay: Bool { HTTPDateForm.wordsForShortDays.contains(word(at: 0)) }

    private func month(at start: Int) -> Int? {
        HTTPDateForm.wordsForMonths.firstIndex(of: word(at: start)).map { $0 + 1 }
    }

    private func word(at start: Int) -> UInt32 {
        UInt32(self[start].lowercase) << 16 | UInt32(self[start + 1].lowercase) << 8 | UInt32(self[start + 2].lowercase)
    }

    /// Reads a time such as `08:49:37`, and returns the seconds since midnight. The last minute of a day may have a leap second.
    private func time(at start: Int) -> Int? {
        guard let hour = number(at: start), hour < 24, let minute = number(at: start + 3), minute < 60,
            let second = number(at: start + 6), second < 60 || (hour, minute, second) == (23, 59, 60)
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    private func year(at start: Int) -> Int? {
        guard let century = number(at: start), let year = number(at: start + 2) else { return nil }
        return century * 100 + year
    }

    /// Reads a number of two digits, or of one after a space.
    private func number(at start: Int, isPaddedWithSpace: Bool = false) -> Int? {
        guard self[start + 1].isDigit else { return nil }
        let ones = Int(self[start + 1] - UInt8(ascii: "0"))
        if isPaddedWithSpace, self[start] == UInt8(ascii: " ") { return ones }
        guard self[start].isDigit else { return nil }
        return Int(self[start] - UInt8(ascii: "0")) * 10 + ones
    }
}

/// A day of the Gregorian calendar.
private struct CivilDay {
    private static let monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    private static let daysOf400Years = 146_097

    let year: Int
    let month: Int
    let day: Int

    var exists: Bool {
        (1...Self.length(of: month, in: year)).contains(day)
    }

    /// The number of days from the first of January 1970.
    var daysSince1970: Int {
        let earlierMonths = Self.monthLengths[..<(month - 1)].reduce(0, +)
        let leapDay = month > 2 && Self.isLeapYear(year) ? 1 : 0
        return Self.days(before: year) - Self.days(before: 1970) + earlierMonths + leapDay + day - 1
    }

    /// The day of the week, counted from Sunday. The first of January 1970 was a Thursday.
    var weekday: Int { ((daysSince1970 + 4) % 7 + 7) % 7 }

    /// Creates the day that is a number of days after the first of January 1970.
    init(daysSince1970 days: Int) {
        year = Self.year(ofDay: days + Self.days(before: 1970))
        var rest = days + Self.days(before: 1970) - Self.days(before: year)
        var month = 1
        while case let length = Self.length(of: month, in: year), rest >= length {
            rest -= length
            month += 1
        }
        self.month = month
        day = rest + 1
    }

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    private static func length(of month: Int, in year: Int) -> Int {
        monthLengths[month - 1] + (month == 2 && isLeapYear(year) ? 1 : 0)
    }

    /// Returns the year of a date, in UTC.
    static func year(of date: Date) -> Int {
        let days = Int(min(max(date.timeIntervalSince1970 / 86_400, -1e6), 1e6).rounded(.down))
        return year(ofDay: days + Self.days(before: 1970))
    }

    /// Returns the year of the day that is a number of days after the first of January of the year 0.
    private static func year(ofDay days: Int) -> Int {
        var year = days * 400 / daysOf400Years
        // The estimate is a day too early or too late at the ends of some years.
        if Self.days(before: year + 1) <= days { year += 1 }
        if Self.days(before: year) > days { year -= 1 }
        return year
    }

    /// Returns the number of days from the beginning of the year 0 to that of another one, which is not negative.
    private static func days(before year: Int) -> Int {
        guard year > 0 else { return 0 }
        let last = year - 1
        // The year 0 is a leap year.
        return year * 365 + last / 4 - last / 100 + last / 400 + 1
    }

    private static func isLeapYear(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }
}
