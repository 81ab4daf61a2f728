extension FileTemplate {
    static let entity = Self(
        "Sources/Rings/Entities/{BlogEntries}/{BlogEntry}.swift",
        text: #"""
            /// {A blog entry}: a text with an identity.
            ///
            /// One that exists is valid: its text says something, and is not longer than ``longestText``.
            public struct {BlogEntry}: Hashable, Identifiable, Sendable {
                /// How many characters a text may have, once trimmed.
                public static let longestText = 1_000

                /// Which {blog entry} this is.
                public let id: ID
                /// What it says, without white space at its ends. Never empty.
                public let text: String

                /// Makes {a blog entry} of a text, without the white space at its ends, or says which rule it breaks.
                ///
                /// A character is what a reader takes for one (an extended grapheme cluster of Unicode).
                ///
                /// - Complexity: O(n) in the length of the text.
                /// - Throws: ``{BlogEntry}Error/blankText`` if the text is empty or only white space;
                ///   ``{BlogEntry}Error/textTooLong(_:)`` if it has more characters than ``longestText``.
                public init(id: ID, text: String) throws({BlogEntry}Error) {
                    let text = text.trimmingWhitespace()
                    guard !text.isEmpty else { throw .blankText }
                    guard text.count <= Self.longestText else { throw .textTooLong(text.count) }
                    self.id = id
                    self.text = text
                }
            }
            """#
    )
}

extension FileTemplate {
    static let entityID = Self(
        "Sources/Rings/Entities/{BlogEntries}/{BlogEntry}+ID.swift",
        text: #"""
            extension {BlogEntry} {
                /// The identity of {a blog entry}, given by whoever keeps the {blog entries}.
                public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
                    /// The number itself. Any number can be an identity.
                    public let rawValue: Int

                    /// Makes the identity with this number.
                    public init(_ rawValue: Int) {
                        self.rawValue = rawValue
                    }

                    /// Orders identities by their number.
                    public static func < (left: Self, right: Self) -> Bool {
                        left.rawValue < right.rawValue
                    }

                    /// The number in decimal digits.
                    public var description: String { String(rawValue) }
                }
            }
            """#
    )
}

extension FileTemplate {
    static let entityError = Self(
        "Sources/Rings/Entities/{BlogEntries}/{BlogEntry}Error.swift",
        text: #"""
            /// The rule of {a blog entry} that was broken.
            public enum {BlogEntry}Error: Error, Hashable, Sendable, CustomStringConvertible {
                /// The text is empty or only white space.
                case blankText
                /// The trimmed text has this many characters, which is more than ``{BlogEntry}/longestText``.
                case textTooLong(Int)

                /// The rule, as a sentence for a person.
                public var description: String {
                    switch self {
                    case .blankText:
                        "The text of {a blog entry} must not be blank."
                    case .textTooLong(let count):
                        """
                        The text of {a blog entry} has up to \({BlogEntry}.longestText) characters, \
                        and not \(count).
                        """
                    }
                }
            }
            """#
    )
}

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
