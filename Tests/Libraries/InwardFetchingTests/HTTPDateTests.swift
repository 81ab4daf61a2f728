import InwardTesting
import Testing
import Thoroughness

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct HTTPDateTests {
    private static let example = Date(timeIntervalSince1970: 784_111_777)
    /// July 1, 2026.
    private static let now = Date(timeIntervalSince1970: 1_782_864_000)

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gMT", "sunDAY, 06-NOV-94 08:49:37 gmt", "sun nov  6 08:49:37 1994",
        // The day of the week is not compared with the date.
        "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func everyFormIsRead(text: String) {
        #expect(Date(httpDate: text, near: Self.now) == Self.example)
    }

    @Test(arguments: [
        "", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTX", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 No 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sund, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday Nov  6 08:49:37 1994", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  06 08:49:37 1994", "Sun Nov   6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  6 08:49:37 94",
        "Sun, 06 Nov +994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "784111777",
    ])
    func otherTextIsNoDate(text: String) {
        #expect(Date(httpDate: text, near: Self.now) == nil)
    }

    @Test(arguments: [
        ("00 Jan 2025 00:00:00", false), ("01 Jan 2025 00:00:00", true), ("31 Jan 2025 00:00:00", true),
        ("32 Jan 2025 00:00:00", false), ("28 Feb 2025 00:00:00", true), ("29 Feb 2025 00:00:00", false),
        ("29 Feb 2024 00:00:00", true), ("30 Feb 2024 00:00:00", false), ("29 Feb 2000 00:00:00", true),
        ("29 Feb 2100 00:00:00", false), ("30 Apr 2025 00:00:00", true), ("31 Apr 2025 00:00:00", false),
        ("31 Dec 2025 23:59:59", true), ("31 Dec 2025 24:00:00", false), ("31 Dec 2025 23:60:00", false),
        ("31 Dec 2016 23:59:60", true), ("31 Dec 2016 23:59:61", false), ("31 Dec 2016 23:58:60", false),
        ("31 Dec 9999 23:59:59", true),
        ("01 Jan 0000 00:00:00", true), ("29 Feb 0000 00:00:00", true),
    ])
    func onlyDaysAndTimesThatExistAreRead(text: String, exists: Bool) {
        #expect((Date(httpDate: "Mon, \(text) GMT") != nil) == exists)
    }

    @Test func leapSecondIsTheNextSecond() {
        #expect(
            Date(httpDate: "Sat, 31 Dec 2016 23:59:60 GMT") == Date(httpDate: "Sun, 01 Jan 2017 00:00:00 GMT")
        )
    }

    /// RFC 9110 section 5.6.7: a year that appears to be more than 50 years in the future is in the past.
    @Test(arguments: [
        ("26", "2026"), ("27", "2027"), ("76", "2076"), ("77", "1977"), ("99", "1999"), ("00", "2000"),
    ])
    func yearOfTwoDigitsIsAtMost50YearsAhead(short: String, full: String) {
        let date = Date(httpDate: "Monday, 06-Nov-\(short) 08:49:37 GMT", near: Self.now)
        #expect(date != nil && date == Date(httpDate: "Mon, 06 Nov \(full) 08:49:37 GMT"))
    }

    @Test(arguments: [
        ("Thu, 31 Dec 2026 23:59:59 GMT", "1977"), ("Fri, 01 Jan 2027 00:00:00 GMT", "2077"),
        ("Sun, 31 Dec 2126 23:59:59 GMT", "2077"), ("Fri, 01 Jan 2127 00:00:00 GMT", "2177"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "1977"),
    ])
    func centuryDependsOnTheCurrentYear(now: String, year: String) throws {
        let now = try #require(Date(httpDate: now))
        let date = Date(httpDate: "Monday, 06-Nov-77 08:49:37 GMT", near: now)
        #expect(date == Date(httpDate: "Mon, 06 Nov \(year) 08:49:37 GMT"))
    }

    @Test func yearOfTwoDigitsNeedsTheCurrentDate() {
        #expect(Date(httpDate: "Sunday, 06-Nov-94 08:49:37 GMT") == nil)
    }

    @Test func datesAreThoseOfFoundation() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("The seed is \(seed).")
        var generator = SplitMix64(seed: seed)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        for _ in 0..<2_000 {
            // From 1600, because Foundation has the Julian calendar before, to 9999.
            let seconds = Int.random(in: -11_676_096_000..<253_402_300_800, using: &generator)
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let parts = date.formatted(.iso8601).split { !$0.isNumber }
            let month = try #require(Int(parts[1]))
            let text = "Mon, \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
            #expect(Date(httpDate: text) == date, "\(text)")
        }
    }

    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"), (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"), (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (-0.1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    ])
    func datesAreWrittenInThePreferredForm(seconds: Double, text: String) {
        #expect(Date(timeIntervalSince1970: seconds).httpDate == text)
    }

    /// Every day of four centuries, or a sample in which every day of the month and of the week occurs.
    @Test func writtenDatesAreReadAgain() {
        for day in stride(from: -73_049, through: 73_049, by: Thoroughness.stride(sampling: 11)) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 43_200)
            #expect(Date(httpDate: date.httpDate) == date)
        }
    }
}
