import InwardCommandLine
import Testing

@testable import scaffold_subject

struct SubjectNameTests {
    @Test(arguments: [
        ("Comment", "Comments"), ("Category", "Categories"), ("Box", "Boxes"), ("Day", "Days"),
        ("Address", "Addresses"),
        ("Branch", "Branches"), ("Wish", "Wishes"), ("Analysis", "Analyses"), ("BlogEntry", "BlogEntries"),
        ("FAQ", "FAQs"), ("Survey", "Surveys"), ("Quartz", "Quartzes"),
    ])
    func thePluralIsTheUsualOne(singular: String, plural: String) throws {
        #expect(try SubjectName(singular).plural == plural)
    }

    @Test func anotherPluralCanBeGiven() throws {
        #expect(try SubjectName("Person", plural: "People").plural == "People")
        #expect(try SubjectName("Series", plural: "Series").plural == "Series")
    }

    @Test(arguments: [
        ("Tag", "tag", "tags", "tag", "tags"),
        ("BlogEntry", "blogEntry", "blogEntries", "blog entry", "blog entries"),
        ("FAQ", "faq", "faqs", "FAQ", "FAQs"), ("URLAlias", "urlAlias", "urlAliases", "URL alias", "URL aliases"),
        ("Mp3File", "mp3File", "mp3Files", "mp3 file", "mp3 files"),
    ])
    func everyFormOfANameComesOutRight(
        name: String,
        lowerSingular: String,
        lowerPlural: String,
        proseSingular: String,
        prosePlural: String
    ) throws {
        let name = try SubjectName(name)
        #expect(name.lowerSingular == lowerSingular)
        #expect(name.lowerPlural == lowerPlural)
        #expect(name.proseSingular == proseSingular)
        #expect(name.prosePlural == prosePlural)
    }

    @Test(arguments: [
        "a blog entry", "an order", "a unit", "an uninstall", "a user", "an hour", "a house", "an FAQ", "a URL",
        "a one-time code", "an invoice", "a European",
    ])
    func theArticleIsTheSpokenOne(words: String) {
        let noun = words.split(separator: " ", maxSplits: 1).last.map(String.init)
        #expect(noun?.withArticle == words)
    }

    @Test(arguments: [
        "", "comment", "_Comment", "2Comment", "Blog Entry", "Blog-Entry", "Ärger", "Comm\u{E9}nt", "A\n",
    ])
    func namesThatATypeCannotHaveAreRefused(name: String) {
        #expect(throws: UsageError("a name has ASCII letters and digits and begins with a capital, unlike “\(name)”")) {
            try SubjectName(name)
        }
    }

    @Test(arguments: ["Type", "Protocol", "Self", "Any", "Class", "Case", "Import", "Default", "Extension"])
    func keywordsAreRefused(name: String) {
        #expect(throws: UsageError("\(name) cannot be a name: it is a keyword of Swift")) { try SubjectName(name) }
    }

    @Test(arguments: ["String", "Error", "Task", "Result", "Data", "URL", "Test"])
    func namesOfWellKnownTypesAreRefused(name: String) {
        #expect(throws: UsageError("\(name) cannot be a name: Swift or Foundation has a type of that name")) {
            try SubjectName(name)
        }
    }

    @Test func thePluralKeepsTheSameRules() {
        #expect(throws: UsageError.self) { try SubjectName("Comment", plural: "comments") }
        #expect(throws: UsageError.self) { try SubjectName("Comment", plural: "String") }
    }
}
