extension FileTemplate {
    static let listPresenterTests = Self(
        "Tests/Rings/InterfaceAdaptersTests/{BlogEntries}/{BlogEntry}ListPresenterTests.swift",
        imports: [
            "import Entities", "import InterfaceAdapters", "import InwardCore", "import TestSupport", "import Testing",
            "import UseCases", "import UseCasesTesting",
        ],
        text: #"""
            struct {BlogEntry}ListPresenterTests {
                private func line(_ error: List{BlogEntries}Error) -> String {
                    {BlogEntry}ListPresenter().present(error).line
                }

                @Test func eachIsShownAndWhatWasLeftOut() throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let viewModel = {BlogEntry}ListPresenter().present(
                        Reading([try .example(7, text: "On engines.")], origin: .upstream, rejected: rejected)
                    )
                    #expect(viewModel.rows.map(\.id) == [7])
                    #expect(viewModel.rows.map(\.text) == ["On engines."])
                    #expect(viewModel.origin == "upstream")
                    #expect(viewModel.notes == ["Left out: x[3].id is missing"])
                    let text = TextRenderer().render(viewModel.document)
                    #expect(text.hasPrefix("{Blog entries}\n"))
                    #expect(text.contains("\n 7  On engines.\n"))
                    #expect(text.hasSuffix("\n- Left out: x[3].id is missing\n"))
                }

                @Test func aLongTextIsCutShortOnOneLine() throws {
                    let text = "One\n\n" + String(repeating: "x", count: 100)
                    let viewModel = {BlogEntry}ListPresenter().present(
                        Reading([try .example(text: text)], origin: .memory)
                    )
                    #expect(viewModel.rows.map(\.text) == [text])
                    let tables = viewModel.document.blocks.compactMap { block in
                        if case .table(let table) = block { table } else { nil }
                    }
                    let beginning = "One " + String(repeating: "x", count: 55) + "…"
                    #expect(tables.map(\.rows) == [[[Table.Cell("1"), Table.Cell(beginning, detail: text)]]])
                }

                @Test func everyFailureSaysWhatItIs() {
                    let cause = RepositoryError(.unavailable, request: "GET x", explanation: "failed", canRetry: true)
                    #expect(line(.cancelled) == "Listing the {blog entries} was cancelled.")
                    #expect(
                        line(.denied(cause)) == """
                            The {blog entries} could not be listed: GET x failed. \
                            Ask with credentials that the upstream accepts.
                            """
                    )
                    #expect(line(.unavailable(cause)).hasSuffix("or try again later."))
                    #expect(line(.unreadable(cause)).hasSuffix("what it answers there."))
                }
            }
            """#
    )
}
