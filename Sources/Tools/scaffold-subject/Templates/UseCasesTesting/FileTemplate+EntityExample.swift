extension FileTemplate {
    static let entityExample = Self(
        "Sources/Testing/UseCasesTesting/{BlogEntries}/{BlogEntry}+Example.swift",
        imports: ["public import Entities"],
        text: #"""
            extension {BlogEntry} {
                /// A valid {blog entry} of which nothing matters but what is given.
                ///
                /// - Throws: `{BlogEntry}Error` if the text is blank or too long.
                public static func example(_ id: Int = 1, text: String? = nil) throws -> {BlogEntry} {
                    try {BlogEntry}(id: ID(id), text: text ?? "Text \(id)")
                }
            }
            """#
    )
}
