extension FileTemplate {
    static let listViewModel = Self(
        "Sources/Rings/InterfaceAdapters/{BlogEntries}/{BlogEntry}ListViewModel.swift",
        imports: ["import InwardCore"],
        text: #"""
            /// What a view shows of all {blog entries}.
            public struct {BlogEntry}ListViewModel: ViewModel, Hashable {
                /// What a view shows of one of the {blog entries}.
                public struct Row: Hashable, Encodable, Sendable {
                    /// Which {blog entry} this is.
                    public let id: Int
                    /// What it says.
                    public let text: String
                }

                /// The {blog entries} in the order they are shown.
                public let rows: [Row]
                /// Where the {blog entries} came from.
                public let origin: String
                /// A remark for each record that was left out.
                public let notes: [String]

                /// A table of the {blog entries}, and the remarks.
                public var document: Document {
                    let table = Table(
                        columns: [.init("ID", isNumeric: true), .init("Text")],
                        rows: rows.map { [.init(String($0.id)), .init($0.text.excerpt(upTo: 60), detail: $0.text)] }
                    )
                    let title = "{Blog entries}"
                    return Document(title: title, blocks: [.heading(title), .table(table)] + notes.block)
                }
            }
            """#
    )
}
