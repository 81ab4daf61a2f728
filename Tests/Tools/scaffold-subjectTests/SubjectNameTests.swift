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
    func defaultPluralIsTheRegularEnglishOne(singular: String, plural: String) throws {
        #expect(try SubjectName(singular).plural == plural)
    }

    @Test func irregularPluralCanBeGiven() throws {
        #expect(try SubjectName("Person", plural: "People").plural == "People")
        #expect(try SubjectName("Series", plural: "Series").plural == "Series")
    }

    @Test(arguments: [
        ("Tag", "tag", "tags", "tag", "tags"),
        ("BlogEntry", "blogEntry", "blogEntries", "blog entry", "blog entries"),
        ("FAQ", "faq", "faqs", "FAQ", "FAQs"), ("URLAlias", "urlAlias", "urlAliases", "URL alias", "URL aliases"),
        ("Mp3File", "mp3File", "mp3Files", "mp3 file", "mp3 files"),
    ])
    func nameHasTheRightForms(
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
    func articleFollowsThePronunciation(words: String) {
        let noun = words.split(separator: " ", maxSplits: 1).last.map(String.init)
        #expect(noun?.withArticle == words)
    }

    @Test(arguments: [
        "", "comment", "_Comment", "2Comment", "Blog Entry", "Blog-Entry", "Ärger", "Comm\u{E9}nt", "A\n",
    ])
    func namesThatAreNotTypeNamesAreRefused(name: String) {
        #expect(
            throws: UsageError(
                "“\(name)” is not a type name: use ASCII letters and digits, and begin with a capital letter"
            )
        ) {
            try SubjectName(name)
        }
    }

    @Test(arguments: ["Type", "Protocol", "Self", "Any", "Class", "Case", "Import", "Default", "Extension"])
    func keywordsAreRefused(name: String) {
        #expect(throws: UsageError("“\(name)” is a Swift keyword: choose another name")) { try SubjectName(name) }
    }

    @Test(arguments: ["String", "Error", "Task", "Result", "Data", "URL", "Test"])
    func namesOfWellKnownTypesAreRefused(name: String) {
        #expect(throws: UsageError("“\(name)” is a type of Swift or Foundation: choose another name")) {
            try SubjectName(name)
        }
    }

    @Test func givenPluralIsCheckedToo() {
        #expect(throws: UsageError.self) { try SubjectName("Comment", plural: "comments") }
        #expect(throws: UsageError.self) { try SubjectName("Comment", plural: "String") }
    }
}
