import Testing

@testable import InwardFetching

struct StructuredDictionaryTests {
    @Test func valuesHaveTypes() throws {
        let dictionary = try #require(
            StructuredDictionary(
                #"a=1, b=-15;x;y=2,c="q\"\\, z",  d, e=?0 , f=?1;p="x", g=tok/en:1, h=1.5, *i.j-k_=(1 2)"#
            )
        )
        #expect(
            dictionary.members == [
                "a": .integer(1), "b": .integer(-15), "c": .string(#"q"\, z"#), "d": .boolean(true),
                "e": .boolean(false),
                "f": .boolean(true), "g": .other, "h": .other, "*i.j-k_": .other,
            ]
        )
    }

    @Test(arguments: [
        "a=:YWJj:", "a=@1659578233", "a=@-1", #"a=%"caf%c3%a9""#, "a=()", "a=( 1  \"x\";p )", "a=(a b);p=1", "a=*t",
        "a;b;c=?1",
        "a=::", "  a=1", "a=1\t,\tb=2",
    ])
    func everyTypeIsAccepted(text: String) {
        #expect(StructuredDictionary(text)?.members.isEmpty == false)
    }

    @Test(arguments: [
        "A=1", "a=1,", "a=1,,b", ",a", "a=", "a= 1", "a =1", "1=a", "a=1 b=2", "a=&", "&&&&&", "a=1, &&&&&", "a=\"x",
        "a=\"\\x\"",
        "a=\"\u{7F}\"", "a=é", "a=1234567890123456", "a=1.", "a=1.2345", "a=1234567890123.1", "a=-", "a=--1", "a=?2",
        "a=?",
        "a=:Y W:", "a=:YW", "a=@1.5", "a=@x", #"a=%"%C3""#, #"a=%"%ff""#, #"a=%"x"#, "a=%x", "a=(1", "a=(1,2)",
        "a=(1\t2)",
        "a=(1\"x\")", "a;=1", "a;B", "a;b=", "\ta=1", "a=1\u{0}",
    ])
    func malformedTextMakesTheWholeInvalid(text: String) {
        #expect(StructuredDictionary(text) == nil)
    }

    @Test func emptyTextHasNoMembers() {
        #expect(StructuredDictionary("")?.members.isEmpty == true)
        #expect(StructuredDictionary("  ")?.members.isEmpty == true)
    }

    @Test func lastMemberWithAKeyCounts() {
        #expect(StructuredDictionary("a=1, a, a=2")?.members == ["a": .integer(2)])
    }
}
