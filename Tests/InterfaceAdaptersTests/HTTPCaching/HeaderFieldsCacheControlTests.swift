import Testing

@testable import InterfaceAdapters

struct HeaderFieldsCacheControlTests {
    private func fields(_ cacheControl: String..., age: String? = nil, vary: String? = nil) -> HeaderFields {
        var fields = HeaderFields(cacheControl.map { HeaderField(.cacheControl, $0) })
        fields[.age] = age
        fields[.vary] = vary
        return fields
    }

    @Test func directivesAreFoundWhateverTheirCaseAndWhereverTheyStand() {
        let directives = fields("Max-Age = 60 ,no-store", "s-maxage=\"7\"").cacheDirectives
        #expect(directives == ["max-age": "60", "no-store": "", "s-maxage": "7"])
        #expect(HeaderFields().cacheDirectives.isEmpty)
    }

    @Test func theFirstOfADirectiveCounts() {
        #expect(fields("max-age=1, max-age=2", "max-age=3").cacheDirectives == ["max-age": "1"])
    }

    @Test(arguments: ["", ",", " , ,", "=", "==", "=5", " = 5", "\"\"", "\t=\t,=", ",=,"])
    func whatHasNoNameIsNoDirective(cacheControl: String) {
        #expect(fields(cacheControl).cacheDirectives.isEmpty)
        #expect(fields(cacheControl, "max-age=5").freshness == .seconds(5))
    }

    @Test(arguments: [
        ("max-age=60", 60), ("MAX-AGE=1", 1), ("private, max-age=60", 60), ("max-age=\"60\"", 60),
        ("must-revalidate, max-age=2147483647", 2_147_483_647), ("s-maxage=9, max-age=60", 60),
    ])
    func anAnswerIsFreshAsLongAsItSays(cacheControl: String, seconds: Int) {
        #expect(fields(cacheControl).freshness == .seconds(seconds))
    }

    @Test(arguments: [
        "", "max-age", "max-age=", "max-age=0", "max-age=-1", "max-age=1.5", "max-age=x", "max-age=٣", "max-age==5",
        "max-age=2147483648", "max-age=-2147483649", "max-age=\(String(repeating: "9", count: 10_000))",
        "s-maxage=60", "no-cache, max-age=60", "max-age=60, no-store", "No-Store, max-age=60",
        "no-cache=\"set-cookie\", max-age=60", "max-age=0, max-age=60", "\u{0}\r\n;max-age:60",
    ])
    func whatDoesNotSayClearlyThatItIsFreshIsNot(cacheControl: String) {
        #expect(fields(cacheControl).freshness == nil)
    }

    @Test(arguments: [
        ("0", 60), ("1", 59), ("59", 1), ("60", nil), ("61", nil), ("-5", 60), ("-2147483648", 60), ("", nil),
        ("x", nil), ("5, 6", nil), ("1.5", nil), ("2147483647", nil), ("99999999999999999999", nil),
        ("-99999999999999999999", nil),
    ])
    func theTimeItWasHeldOnTheWayCounts(age: String, seconds: Int?) {
        #expect(fields("max-age=60", age: age).freshness == seconds.map { .seconds($0) })
    }

    @Test func theLongestTimesAreNotTooLong() {
        #expect(fields("max-age=0", age: "-1").freshness == nil)
        #expect(fields("max-age=2147483647", age: "2147483646").freshness == .seconds(1))
        #expect(fields("max-age=2147483647", age: "2147483647").freshness == nil)
        #expect(fields("max-age=2147483647", age: "2147483648").freshness == nil)
        #expect(fields("max-age=2147483647", age: "-2147483648").freshness == .seconds(2_147_483_647))
    }

    @Test(arguments: [
        ("*", nil), ("Accept, *", nil), ("Accept-Encoding, Cookie", Duration.seconds(60)), ("", .seconds(60)),
    ])
    func anAnswerThatDiffersByWhatNoRequestSaysIsNotFresh(vary: String, freshness: Duration?) {
        #expect(fields("max-age=60", vary: vary).freshness == freshness)
    }
}
