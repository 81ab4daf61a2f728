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
        var parser = HTTPDateParser(text)
        guard let seconds = parser.secondsSince1970(near: now) else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// The date in the preferred form of header fields: `Sun, 06 Nov 1994 08:49:37 GMT`. Dates outside the years 0 to 9999, which have
    /// none, become the nearest one that does.
    var httpDate: String {
        let seconds = Int(timeIntervalSince1970.clamped(to: -62_167_219_200...253_402_300_799).rounded(.down))
        let time = seconds - seconds.dividedDown(by: 86_400) * 86_400
        let day = CivilDay(daysSince1970: seconds.dividedDown(by: 86_400))
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { $0.padded(to: 2) }.joined(separator: ":")
        let month = HTTPDateParser.months[day.month - 1].capitalized
        let weekday = HTTPDateParser.shortDays[day.weekday].capitalized
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

/// A parser of the dates in header fields. Those of Foundation accept other forms, and take longer than a whole answer from a cache
/// may.
private struct HTTPDateParser {
    private static let days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    fileprivate static let shortDays = days.map { String($0.prefix(3)) }
    private static let wordsForDays = days.map(word)
    private static let wordsForShortDays = shortDays.map(word)
    private static let wordsForMonths = months.map(word)
    /// The length of the longest date, `Wednesday, 06-Nov-94 08:49:37 GMT`.
    private static let maximumLength = 33
    fileprivate static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    // An array, whose elements are faster to read than those of a string.
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a parser of a text. One that is too long for a date is not read.
    init(_ text: String) {
        bytes = text.utf8.count <= Self.maximumLength ? Array(text.utf8) : []
    }

    mutating func secondsSince1970(near now: Date?) -> Int? {
        let isShort = takeName(of: Self.wordsForShortDays) != nil
        guard isShort || takeName(of: Self.wordsForDays) != nil else { return nil }
        let moment: (day: CivilDay, time: Int)?
        if isShort {
            moment = take(",") ? takePreferredForm() : takeAsctime()
        } else {
            moment = take(",") ? now.flatMap { takeRFC850(near: $0) } : nil
        }
        guard position == bytes.count, let (day, time) = moment, day.exists else { return nil }
        return day.daysSince1970 * 86_400 + time
    }

    // MARK: Forms, after the day of the week

    private mutating func takePreferredForm() -> (day: CivilDay, time: Int)? {
        guard take(" "), let day = takeNumber(digits: 2), take(" "), let month = takeMonth(), take(" "),
            let year = takeNumber(digits: 4), take(" "), let time = takeTime(), takeZone()
        else { return nil }
        return (CivilDay(year: year, month: month, day: day), time)
    }

    private mutating func takeRFC850(near now: Date) -> (day: CivilDay, time: Int)? {
        guard take(" "), let day = takeNumber(digits: 2), take("-"), let month = takeMonth(), take("-"),
            let year = takeNumber(digits: 2), take(" "), let time = takeTime(), takeZone()
        else { return nil }
        let latest = CivilDay.year(of: now) + 50
        // The last year with these two digits that is not later.
        let fullYear = latest - (latest - year) % 100
        return (CivilDay(year: fullYear, month: month, day: day), time)
    }

    private mutating func takeAsctime() -> (day: CivilDay, time: Int)? {
        guard take(" "), let month = takeMonth(), take(" "), let day = takeNumber(digits: take(" ") ? 1 : 2), take(" "),
            let time = takeTime(), take(" "), let year = takeNumber(digits: 4)
        else { return nil }
        return (CivilDay(year: year, month: month, day: day), time)
    }

    /// Reads a time such as `08:49:37`, and returns the seconds since midnight. The last minute of a day may have a leap second.
    private mutating func takeTime() -> Int? {
        guard let hour = takeNumber(digits: 2), hour < 24, take(":"), let minute = takeNumber(digits: 2), minute < 60,
            take(":"), let second = takeNumber(digits: 2), second < 60 || (hour, minute, second) == (23, 59, 60)
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    /// Reads `GMT`, which all dates are in.
    private mutating func takeZone() -> Bool { take(" ") && take("g") && take("m") && take("t") }

    private mutating func takeMonth() -> Int? { takeName(of: Self.wordsForMonths).map { $0 + 1 } }

    // MARK: Tokens

    /// Reads an ASCII character, in either case if it is a lowercase letter. Reads nothing if another one follows.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position].lowercase == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Reads one of the words and returns its place. Reads nothing if another word follows.
    private mutating func takeName(of words: [UInt128]) -> Int? {
        var word: UInt128 = 0
        var end = position
        while end < bytes.count, case let letter = bytes[end].lowercase,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
        {
            // No word is as long as the number.
            guard word.leadingZeroBitCount >= 8 else { return nil }
            word = word << 8 | UInt128(letter)
            end += 1
        }
        let place = words.firstIndex(of: word)
        if place != nil { position = end }
        return place
    }

    /// A short text in lowercase as a number, which is faster to compare.
    private static func word(_ text: String) -> UInt128 { text.utf8.reduce(0) { $0 << 8 | UInt128($1) } }

    private mutating func takeNumber(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard position < bytes.count, case let byte = bytes[position],
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            position += 1
        }
        return number
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
