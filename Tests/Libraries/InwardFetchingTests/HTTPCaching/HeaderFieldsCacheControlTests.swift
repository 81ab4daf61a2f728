import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct HeaderFieldsCacheControlTests {
    private func fields(_ cacheControl: String..., age: String? = nil, vary: String? = nil) -> HeaderFields {
        var fields = HeaderFields(cacheControl.map { HeaderField(.cacheControl, $0) })
        fields[.age] = age
        fields[.vary] = vary
        return fields
    }

    @Test func directivesAreFoundInAnyCaseAndPosition() {
        let directives = fields("Max-Age = 60 ,no-store", "s-maxage=\"7\"").cacheDirectives
        #expect(directives == ["max-age": "60", "no-store": "", "s-maxage": "7"])
        #expect(HeaderFields().cacheDirectives.isEmpty)
    }

    @Test(arguments: [
        (#"extension="a, max-age=9", max-age=5"#, ["extension": "a, max-age=9", "max-age": "5"]),
        (#"extension="a \"b\\, no-store\"", max-age=5"#, ["extension": #"a "b\, no-store""#, "max-age": "5"]),
        (#"a="", b = " c " ,d"#, ["a": "", "b": " c ", "d": ""]),
    ])
    func quotedStringsContainNoDirectives(cacheControl: String, directives: [String: String]) {
        #expect(fields(cacheControl).cacheDirectives == directives)
    }

    @Test func unterminatedStringsHideNoDirectives() {
        #expect(fields(#"max-age=5, extension="a, no-store"#).cacheDirectives["no-store"] == "")
        #expect(fields(#"max-age=5, a"b, no-store"#).cacheDirectives == ["max-age": "5", "no-store": ""])
    }

    @Test func firstOccurrenceOfADirectiveCounts() {
        #expect(fields("max-age=1, max-age=2", "max-age=3").cacheDirectives == ["max-age": "1"])
    }

    @Test(arguments: ["", ",", " , ,", "=", "==", "=5", " = 5", "\"\"", "\t=\t,=", ",=,"])
    func elementsWithoutANameAreIgnored(cacheControl: String) {
        #expect(fields(cacheControl).cacheDirectives.isEmpty)
        #expect(fields(cacheControl, "max-age=5").freshness == .seconds(5))
    }

    @Test(arguments: [
        ("max-age=60", 60), ("MAX-AGE=1", 1), ("private, max-age=60", 60), ("max-age=\"60\"", 60),
        ("must-revalidate, max-age=2147483647", 2_147_483_647), ("s-maxage=9, max-age=60", 60),
        ("max-age=2147483648", 2_147_483_648), ("max-age=2147483649", 2_147_483_648),
        ("max-age=\(String(repeating: "9", count: 10_000))", 2_147_483_648),
    ])
    func maxAgeIsTheFreshnessLifetime(cacheControl: String, seconds: Int) {
        #expect(fields(cacheControl).freshness == .seconds(seconds))
    }

    @Test(arguments: [
        "", "max-age", "max-age=", "max-age=0", "max-age=-1", "max-age=1.5", "max-age=x", "max-age=٣", "max-age==5",
        "max-age=-2147483649", "max-age=+60", "max-age=0x10", "max-age=1 0", "max -age=10", "max-age=\"1\"\"0\"",
        "s-maxage=60", "no-cache, max-age=60", "max-age=60, no-store", "No-Store, max-age=60",
        "no-cache=\"set-cookie\", max-age=60", "max-age=0, max-age=60", "\u{0}\r\n;max-age:60",
    ])
    func responsesWithUnclearDirectivesAreNotFresh(cacheControl: String) {
        #expect(fields(cacheControl).freshness == nil)
    }

    @Test(arguments: [
        ("0", 60), ("1", 59), ("59", 1), ("60", nil), ("61", nil), ("-5", nil), ("-0", nil), ("+1", nil), ("", nil),
        ("x", nil), ("5, 6", nil), ("1.5", nil), ("2147483647", nil), ("99999999999999999999", nil),
        ("-99999999999999999999", nil),
    ])
    func timeInOtherCachesReducesFreshness(age: String, seconds: Int?) {
        #expect(fields("max-age=60", age: age).freshness == seconds.map { .seconds($0) })
    }

    @Test func longestTimesDoNotOverflow() {
        #expect(fields("max-age=0", age: "-1").freshness == nil)
        #expect(fields("max-age=2147483647", age: "2147483646").freshness == .seconds(1))
        #expect(fields("max-age=2147483647", age: "2147483647").freshness == nil)
        #expect(fields("max-age=2147483647", age: "2147483648").freshness == nil)
        #expect(fields("max-age=2147483648", age: "2147483647").freshness == .seconds(1))
    }

    @Test(arguments: [
        ("*", nil), ("Accept, *", nil), ("Accept-Encoding, Cookie", Duration.seconds(60)), ("", .seconds(60)),
    ])
    func onlyAStarInVaryPreventsFreshness(vary: String, freshness: Duration?) {
        #expect(fields("max-age=60", vary: vary).freshness == freshness)
    }

    @Test(arguments: [
        (nil, nil, 8), ("50", nil, 58), (nil, "Sun, 06 Nov 1994 08:49:17 GMT", 20),
        (nil, "Sun, 06 Nov 1994 08:49:35 GMT", 8), ("50", "Sun, 06 Nov 1994 08:49:17 GMT", 58),
        // Dates in the future and invalid dates change nothing.
        (nil, "Sun, 06 Nov 2094 08:49:37 GMT", 8), (nil, "yesterday", 8),
        (nil, "Sun, 06 Nov 0001 08:49:37 GMT", 2_147_483_648),
    ])
    func initialAgeIsTheGreaterOfDelayAndDate(age: String?, date: String?, seconds: Int) throws {
        var fields = fields("max-age=60", age: age)
        fields[.date] = date
        let arrival = try #require(Date(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(fields.initialAge(after: .seconds(8), at: arrival) == .seconds(seconds))
    }

    @Test(arguments: [("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:00 GMT", 0)])
    func recentOrFutureDatesAddNoAge(date: String, seconds: Int) throws {
        let arrival = try #require(Date(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT"))
        let fields: HeaderFields = [HeaderField(.date, date)]
        #expect(fields.initialAge(after: .zero, at: arrival) == .seconds(seconds))
        #expect(fields.initialAge(after: .seconds(-1), at: arrival) == .seconds(seconds))
    }
}

extension HeaderFields {
    /// Returns how long a response with these fields is fresh, if it arrived in no time.
    fileprivate var freshness: Duration? {
        guard let lifetime = freshnessLifetime else { return nil }
        let age = initialAge(after: .zero, at: .distantPast)
        return age < lifetime ? lifetime - age : nil
    }
}
