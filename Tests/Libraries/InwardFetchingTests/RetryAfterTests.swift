import InwardFetching
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct RetryAfterTests {
    private func retryAfter(_ value: String, date: String? = nil) -> RetryAfter? {
        var fields: HeaderFields = [HeaderField(.retryAfter, value)]
        fields[.date] = date
        return RetryAfter(fields)
    }

    @Test func secondsBecomeADelay() {
        #expect(retryAfter("120") == .delay(.seconds(120)))
        #expect(retryAfter("0") == .delay(.zero))
    }

    @Test func datesBecomeDelaysRelativeToTheDateField() {
        let value = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(retryAfter(value, date: "Sun, 06 Nov 1994 08:49:07 GMT") == .delay(.seconds(30)))
        #expect(retryAfter(value, date: "Sun, 06 Nov 1994 09:00:00 GMT") == .delay(.zero))
    }

    @Test func firstFieldCounts() {
        #expect(RetryAfter([HeaderField(.retryAfter, "5"), HeaderField(.retryAfter, "9")]) == .delay(.seconds(5)))
        let dates: HeaderFields = [
            HeaderField(.retryAfter, "Sun, 06 Nov 1994 08:49:37 GMT"),
            HeaderField(.date, "Sun, 06 Nov 1994 08:49:07 GMT"), HeaderField(.date, "Sun, 06 Nov 1994 08:49:36 GMT"),
        ]
        #expect(RetryAfter(dates) == .delay(.seconds(30)))
    }

    @Test func datesWithoutADateFieldStayDates() {
        let date = Date(timeIntervalSince1970: 784_111_777)
        #expect(retryAfter("Sun, 06 Nov 1994 08:49:37 GMT") == .date(date))
    }

    @Test(arguments: [
        ("Thu, 06 Jan 1994 08:49:37 GMT", 757_846_177), ("Sun, 06 Feb 1994 08:49:37 GMT", 760_524_577),
        ("Sun, 06 Mar 1994 08:49:37 GMT", 762_943_777), ("Wed, 06 Apr 1994 08:49:37 GMT", 765_622_177),
        ("Fri, 06 May 1994 08:49:37 GMT", 768_214_177), ("Mon, 06 Jun 1994 08:49:37 GMT", 770_892_577),
        ("Wed, 06 Jul 1994 08:49:37 GMT", 773_484_577), ("Sat, 06 Aug 1994 08:49:37 GMT", 776_162_977),
        ("Tue, 06 Sep 1994 08:49:37 GMT", 778_841_377), ("Thu, 06 Oct 1994 08:49:37 GMT", 781_433_377),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Tue, 06 Dec 1994 08:49:37 GMT", 786_703_777),
    ])
    func datesInEveryMonthAreParsed(text: String, seconds: Int) {
        #expect(retryAfter(text) == .date(Date(timeIntervalSince1970: Double(seconds))))
    }

    @Test func overflowingSecondsCountAsAYear() {
        #expect(retryAfter(String(repeating: "9", count: 50)) == .delay(.seconds(31_536_000)))
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(retryAfter("Fri, 31 Dec 9999 23:59:59 GMT", date: date) == .delay(.seconds(31_536_000)))
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "٣", "+5"])
    func invalidValuesAreIgnored(value: String) {
        #expect(retryAfter(value) == nil)
    }

    @Test(arguments: [
        "Thu, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:37+02:00 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994 084937 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37Z GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
        "\"Su, 06 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", ", 06 Nov 1994 08:49:37 GMT",
    ])
    func invalidDatesAreIgnored(value: String) {
        #expect(retryAfter(value) == nil)
    }

    @Test(arguments: [
        "Thu, 29 Feb 1996 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
    ])
    func datesAtTheEndsOfTheCalendarAreParsed(value: String) {
        #expect(retryAfter(value) != nil)
    }

    @Test func missingFieldIsNil() {
        #expect(RetryAfter([]) == nil)
    }
}
