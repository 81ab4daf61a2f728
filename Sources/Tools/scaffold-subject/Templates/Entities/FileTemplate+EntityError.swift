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
