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
