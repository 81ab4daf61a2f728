import Testing

@testable import InwardFetching

struct EntityTagTests {
    @Test(arguments: [#""""#, #""a""#, #"W/"a""#, #""a,b""#, #"W/"""#, #""ü""#])
    func tagsAreRead(text: String) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.isWeak == text.hasPrefix("W/"))
        #expect((tag.isWeak ? "W/" : "") + tag.opaqueTag == text)
        #expect(tag.description == text)
    }

    @Test(arguments: [
        "", "a", #""a"#, #"a""#, #"w/"a""#, #"W"a""#, #"W/a"#, #""a"b"#, #""a" "#, #""a b""#, #""a""b""#, "*",
    ])
    func otherTextIsNoTag(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test func digestIsWrittenInHexadecimalDigits() {
        let tag = EntityTag(digest: [0, 9, 0x0A, 0xA0, 0xFF])
        #expect(tag.description == #""00090aa0ff""#)
        #expect(EntityTag(tag.description) == tag)
    }

    @Test func clientThatHasTheVersionNeedsNoBody() throws {
        let tag = EntityTag(digest: [1])
        #expect(tag.matches(ifNoneMatch: [#""02", W/"01""#]) && tag.matches(ifNoneMatch: ["*"]))
        #expect(!tag.matches(ifNoneMatch: []) && !tag.matches(ifNoneMatch: [#""02""#]))
    }

    @Test func changeNeedsTheSameStrongTag() throws {
        let tag = EntityTag(digest: [1])
        let weak = try #require(EntityTag(#"W/"01""#))
        #expect(tag.matches(ifMatch: []) && tag.matches(ifMatch: ["*"]) && tag.matches(ifMatch: [#""02""#, #""01""#]))
        #expect(!tag.matches(ifMatch: [#"W/"01""#]) && !tag.matches(ifMatch: [#""02""#]))
        #expect(!weak.matches(ifMatch: [#""01", W/"01""#]))
    }

    @Test func strongComparisonNeedsTwoStrongTags() throws {
        let (strong, weak) = try (#require(EntityTag(#""a""#)), #require(EntityTag(#"W/"a""#)))
        let other = try #require(EntityTag(#""b""#))
        #expect(strong.isStronglyEqual(to: strong))
        #expect(
            !strong.isStronglyEqual(to: weak) && !weak.isStronglyEqual(to: strong) && !weak.isStronglyEqual(to: weak)
        )
        #expect(strong.isWeaklyEqual(to: weak) && weak.isWeaklyEqual(to: weak))
        #expect(!strong.isStronglyEqual(to: other) && !strong.isWeaklyEqual(to: other))
    }

    @Test(arguments: [
        [#""a""#], [#""x", "a""#], [#""x", W/"a" , "y""#], [#""x""#, #""a""#], ["*"], [" * "], [#"junk, "a""#],
        [#","a","#],
        [#""x,y","a""#],
    ])
    func listsContainWeaklyEqualTags(list: [String]) throws {
        let tag = try #require(EntityTag(#"W/"a""#))
        #expect(EntityTag.list(list, contains: tag))
    }

    @Test(arguments: [[], [""], [#""x""#], ["a"], [#""x,"a",y""#], [#""a"#]])
    func listsDoNotContainOtherTags(list: [String]) throws {
        let tag = try #require(EntityTag(#""a""#))
        #expect(!EntityTag.list(list, contains: tag))
    }

    @Test func onlyTheStarMatchesWithoutATag() {
        #expect(EntityTag.list(["*"], contains: nil))
        #expect(!EntityTag.list([#""a""#], contains: nil))
    }
}
