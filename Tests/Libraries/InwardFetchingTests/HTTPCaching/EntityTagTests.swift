import Testing

@testable import InwardFetching

struct EntityTagTests {
    @Test(arguments: [#""""#, #""a""#, #"W/"a""#, #""a,b""#, #"W/"""#, #""ü""#])
    func tagsAreRead(text: String) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.isWeak == text.hasPrefix("W/"))
        #expect((tag.isWeak ? "W/" : "") + tag.opaqueTag == text)
    }

    @Test(arguments: [
        "", "a", #""a"#, #"a""#, #"w/"a""#, #"W"a""#, #"W/a"#, #""a"b"#, #""a" "#, #""a b""#, #""a""b""#, "*",
    ])
    func otherTextIsNoTag(text: String) {
        #expect(EntityTag(text) == nil)
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
