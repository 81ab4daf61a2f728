import Testing

@testable import InwardFetching

struct CacheDirectivesTests {
    private func directives(_ values: String...) -> CacheDirectives {
        CacheDirectives(HeaderFields(values.map { HeaderField(.cacheControl, $0) }))
    }

    @Test func directivesAreFoundInAnyCaseAndPosition() {
        let directives = directives("Max-Age=60 ,no-store", "s-maxage=\"7\",\tPUBLIC")
        #expect(directives.maxAge == .seconds(60))
        #expect(directives.noStore)
        #expect(directives.sharedMaxAge == .seconds(7))
        #expect(directives.isPublic)
        #expect(CacheDirectives(HeaderFields()) == .none)
    }

    @Test(arguments: [
        #"extension="a, max-age=9, no-store", max-age=5"#, #"extension="a \"b\\, no-store\"", max-age=5"#,
        #"max-age=5, e="public""#,
    ])
    func quotedStringsContainNoDirectives(value: String) {
        var expected = CacheDirectives.none
        expected.maxAge = .seconds(5)
        #expect(directives(value) == expected)
    }

    /// If each string copied what follows it, this would take minutes.
    @Test(.timeLimit(.minutes(1)))
    func manyQuotedStringsTakeLinearTime() {
        let value = String(repeating: "a=\"\",", count: 200_000) + "max-age=5"
        #expect(directives(value).maxAge == .seconds(5))
    }

    @Test func unterminatedStringsHideNoDirectives() {
        #expect(directives(#"max-age=5, extension="a, no-store"#).noStore)
        #expect(directives(#"max-age=5, a"b, no-store"#).noStore)
    }

    @Test(arguments: [
        "", ",", " , ,", "=", "==", "=5", " = 5", "\"\"", "\t=\t,=", ",=,", "unknown", "x=y", "max-age =9",
        "fresh-while-revalidate=60", "while-revalidate=60", "xproxy-revalidate", "stale-while-revalidat",
    ])
    func otherElementsAreIgnored(value: String) {
        #expect(directives(value) == .none)
        #expect(directives(value, "max-age=5").maxAge == .seconds(5))
    }

    @Test(arguments: [
        ("max-age=60", 60), ("max-age=\"60\"", 60), ("max-age=003600", 3_600), ("max-age=2147483647", 2_147_483_647),
        ("max-age=2147483649", 2_147_483_648), ("max-age=\(String(repeating: "9", count: 10_000))", 2_147_483_648),
        ("max-age=60, max-age=60", 60),
    ])
    func lifetimesAreNumbersOfSeconds(value: String, seconds: Int) {
        #expect(directives(value).maxAge == .seconds(seconds))
    }

    /// A response whose lifetime is unclear is stale, rather than one without a lifetime, which could be estimated.
    @Test(arguments: [
        "max-age", "max-age=", "max-age=-1", "max-age=+60", "max-age=1.5", "max-age=x", "max-age=٣", "max-age==5",
        "max-age=0x10", "max-age=1 0", "max-age= 10", "max-age=\"1\"\"0\"", "max-age='60'", "max-age=1, max-age=2",
        "max-age=2, max-age=1", "max-age=60, max-age",
    ])
    func unclearLifetimesAreZero(value: String) {
        #expect(directives(value).maxAge == .zero)
        #expect(directives(value.replacing("max-age", with: "s-maxage")).sharedMaxAge == .zero)
    }

    @Test func fieldNamesLimitADirectiveToTheseFields() {
        let directives = directives(#"no-cache="Set-Cookie, X-A", private=x-b"#)
        #expect(!directives.noCache)
        #expect(!directives.isPrivate)
        #expect(directives.noCacheFields == [.setCookie, HeaderField.Name("x-a")])
        #expect(directives.privateFields == [HeaderField.Name("X-B")])
    }

    @Test(arguments: ["no-cache=\"Set-Cookie, \"", "no-cache=\" ,, set-cookie\""])
    func emptyElementsAreNoFieldNames(value: String) {
        let directives = directives(value)
        #expect(!directives.noCache)
        #expect(directives.noCacheFields == [.setCookie])
    }

    @Test(arguments: [
        "no-cache", "no-cache=", "no-cache=\" \"", "no-cache=\", \"", "no-cache=\"\"", "no-cache=\"a, b c\"",
        "no-cache=\"a\", no-cache",
    ])
    func malformedFieldNamesMeanTheWholeResponse(value: String) {
        #expect(directives(value).noCache)
        #expect(directives(value.replacing("no-cache", with: "private")).isPrivate)
    }

    @Test func requestDirectivesWithoutAValidArgumentAreIgnored() {
        #expect(directives("min-fresh=x, max-stale=y, stale-if-error=-1") == .none)
    }

    @Test func strictestOfSeveralRequestDirectivesCounts() {
        #expect(directives("min-fresh=1, min-fresh=9, min-fresh=5").minFresh == .seconds(9))
        #expect(directives("max-stale, max-stale=9, max-stale=50").maxStale == .seconds(9))
    }

    @Test func maxStaleWithoutAnArgumentAcceptsAnyAge() {
        #expect(directives("max-stale").maxStale == .seconds(2_147_483_648))
    }
}
