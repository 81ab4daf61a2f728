extension FileTemplate {
    static let dto = Self(
        "Sources/Rings/InterfaceAdapters/{BlogEntries}/{BlogEntry}DTO.swift",
        imports: ["import Entities", "import InwardRepositories"],
        text: #"""
            /// {A blog entry} as an upstream writes it.
            struct {BlogEntry}DTO: RecordDTO {
                static let listName = "{blogEntries}"

                let id: FieldDTO<Int>
                let text: FieldDTO<String>

                init(_ {blogEntry}: {BlogEntry}) {
                    id = FieldDTO({blogEntry}.id.rawValue)
                    text = FieldDTO({blogEntry}.text)
                }

                func entity() throws(FieldError) -> {BlogEntry} {
                    do {
                        return try {BlogEntry}(id: {BlogEntry}.ID(id.value), text: text.value)
                    } catch {
                        throw FieldError(Self.field(of: error), "breaks a rule: \(error)")
                    }
                }

                private static func field(of error: {BlogEntry}Error) -> String {
                    switch error {
                    case .blankText, .textTooLong: "text"
                    }
                }
            }
            """#
    )
}
