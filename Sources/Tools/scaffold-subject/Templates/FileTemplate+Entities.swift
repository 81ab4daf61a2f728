extension FileTemplate {
    static let entity = Self(
        "{BlogEntry}",
        in: .sources(.entities),
        text: #"""
            /// {A blog entry}: a text with an identifier.
            ///
            /// Its contents come from a draft, which checks every rule, so each {blog entry} is valid.
            public struct {BlogEntry}: Hashable, Identifiable, Sendable {
                /// The unique identifier.
                public let id: ID
                /// The text, which is not blank.
                public private(set) var text: String

                /// Creates {a blog entry} from a draft.
                public init(id: ID, _ draft: {BlogEntry}Draft) {
                    self.id = id
                    text = draft.text
                }

                /// Replaces the text with the text of a draft.
                public mutating func revise(to draft: {BlogEntry}Draft) {
                    text = draft.text
                }
            }

            /// The contents of {a blog entry}, without an identifier.
            public struct {BlogEntry}Draft: Hashable, Sendable {
                /// The maximum number of characters in a text.
                public static let maximumTextLength = 1_000

                /// The text, which is not blank.
                public let text: String

                /// Creates a draft, and checks every rule. A character is an extended grapheme cluster.
                ///
                /// - Complexity: O(n) in the length of the text.
                /// - Throws: ``{BlogEntry}Error/blankText`` if the text is empty or only white space;
                ///   ``{BlogEntry}Error/textTooLong(_:)`` if it has more characters than ``maximumTextLength``.
                public init(text: String) throws({BlogEntry}Error) {
                    guard !text.allSatisfy(\.isWhitespace) else { throw .blankText }
                    guard text.count <= Self.maximumTextLength else { throw .textTooLong(text.count) }
                    self.text = text
                }
            }

            extension {BlogEntry} {
                /// The identifier of {a blog entry}, which the upstream assigns.
                public struct ID: Hashable, Comparable, Sendable, LosslessStringConvertible {
                    /// The number. Any number is a valid identifier.
                    public let rawValue: Int

                    /// Creates an identifier from a number.
                    public init(_ rawValue: Int) {
                        self.rawValue = rawValue
                    }

                    /// Creates an identifier from a description, or returns `nil` if it is not a decimal number.
                    public init?(_ description: String) {
                        guard let rawValue = Int(description) else { return nil }
                        self.rawValue = rawValue
                    }

                    /// Orders identifiers by number.
                    public static func < (left: Self, right: Self) -> Bool {
                        left.rawValue < right.rawValue
                    }

                    /// The number in decimal digits.
                    public var description: String { String(rawValue) }
                }
            }

            /// A rule of ``{BlogEntry}Draft`` that a text breaks.
            public enum {BlogEntry}Error: Error, Hashable, Sendable, CustomStringConvertible {
                /// The text is empty or only white space.
                case blankText
                /// The text has this many characters, more than ``{BlogEntry}Draft/maximumTextLength``.
                case textTooLong(Int)

                /// The rule as a sentence.
                public var description: String {
                    switch self {
                    case .blankText:
                        "The text of {a blog entry} must not be blank."
                    case .textTooLong(let count):
                        """
                        The text of {a blog entry} must not have more than \
                        \({BlogEntry}Draft.maximumTextLength) characters; this one has \(count).
                        """
                    }
                }
            }
            """#
    )

    /// The tests qualify the type with its module, because Testing has types such as `Comment` and `Tag`.
    static let entityTests = Self(
        "{BlogEntry}Tests",
        in: .tests(.entities),
        imports: ["import {Entities}", "import Testing"],
        text: #"""
            struct {BlogEntry}Tests {
                private func {blogEntry}(_ text: String, id: Int = 1) throws -> {Entities}.{BlogEntry} {
                    try .init(id: .init(id), {BlogEntry}Draft(text: text))
                }

                @Test func textAndIdentifierAreStored() throws {
                    let {blogEntry} = try {blogEntry}("On engines.", id: 7)
                    #expect({blogEntry}.text == "On engines.")
                    #expect({blogEntry}.id.rawValue == 7)
                }

                @Test func revisionReplacesOnlyTheText() throws {
                    var {blogEntry} = try {blogEntry}("On engines.", id: 7)
                    {blogEntry}.revise(to: try {BlogEntry}Draft(text: "On cards."))
                    #expect({blogEntry}.text == "On cards.")
                    #expect({blogEntry}.id.rawValue == 7)
                }

                @Test(arguments: ["", " ", "\n\t\u{2003}"])
                func blankTextsAreRejected(blank: String) {
                    #expect(throws: {BlogEntry}Error.blankText) { try {BlogEntry}Draft(text: blank) }
                }

                @Test(arguments: [1, 1_000])
                func textsAreAllowedUpToTheLimit(count: Int) throws {
                    #expect(try {BlogEntry}Draft(text: String(repeating: "é", count: count)).text.count == count)
                }

                @Test func longerTextsAreRejected() {
                    #expect(throws: {BlogEntry}Error.textTooLong(1_001)) {
                        try {BlogEntry}Draft(text: String(repeating: "é", count: 1_001))
                    }
                }

                @Test func errorNamesTheRule() {
                    #expect({BlogEntry}Error.blankText.description.hasSuffix(" must not be blank."))
                    #expect({BlogEntry}Error.textTooLong(1_001).description.hasSuffix("this one has 1001."))
                }

                @Test func identifiersAreOrderedByNumber() throws {
                    let (second, tenth) = try ({blogEntry}("x", id: 2).id, {blogEntry}("x", id: 10).id)
                    #expect(second < tenth)
                    #expect(!(tenth < second))
                    #expect(tenth.description == "10")
                }
            }
            """#
    )
}
