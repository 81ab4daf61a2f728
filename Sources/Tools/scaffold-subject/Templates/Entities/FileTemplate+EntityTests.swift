extension FileTemplate {
    /// The module is named in front of the type wherever a test needs it: Testing has types such as `Comment` and `Tag`.
    static let entityTests = Self(
        "Tests/Rings/EntitiesTests/{BlogEntries}/{BlogEntry}Tests.swift",
        imports: ["import Entities", "import Testing"],
        text: #"""
            struct {BlogEntry}Tests {
                private func {blogEntry}(_ text: String, id: Int = 1) throws -> Entities.{BlogEntry} {
                    try .init(id: .init(id), text: text)
                }

                @Test func whiteSpaceAroundTheTextIsDropped() throws {
                    let {blogEntry} = try {blogEntry}("\t On engines.\n", id: 7)
                    #expect({blogEntry}.text == "On engines.")
                    #expect({blogEntry}.id.rawValue == 7)
                }

                @Test(arguments: ["", " ", "\n\t\u{2003}"])
                func blankTextsAreRefused(blank: String) {
                    #expect(throws: {BlogEntry}Error.blankText) { try {blogEntry}(blank) }
                }

                @Test(arguments: [1, 1_000])
                func textsAreAllowedUpToTheirLimit(count: Int) throws {
                    #expect(try {blogEntry}(" " + String(repeating: "é", count: count)).text.count == count)
                }

                @Test func aLongerTextIsRefused() {
                    #expect(throws: {BlogEntry}Error.textTooLong(1_001)) {
                        try {blogEntry}(String(repeating: "é", count: 1_001))
                    }
                }

                @Test func theErrorNamesTheRule() {
                    #expect({BlogEntry}Error.blankText.description.contains("must not be blank"))
                    #expect({BlogEntry}Error.textTooLong(1_001).description.contains("1000 characters, and not 1001"))
                }

                @Test func identitiesAreOrderedByTheirNumber() throws {
                    let (second, tenth) = try ({blogEntry}("x", id: 2).id, {blogEntry}("x", id: 10).id)
                    #expect(second < tenth)
                    #expect(!(tenth < second))
                    #expect(tenth.description == "10")
                }
            }
            """#
    )
}
