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

extension FileTemplate {
    static let upstreamRepository = Self(
        "Sources/Rings/InterfaceAdapters/{BlogEntries}/Upstream{BlogEntry}Repository.swift",
        imports: [
            "public import Entities", "public import InwardCore", "public import InwardRepositories",
            "public import UseCases",
        ],
        text: #"""
            /// Gets {blog entries} from an upstream, and from what is kept of its answers.
            ///
            /// The upstream keeps them as JSON, a list at `{blogEntries}`.
            public struct Upstream{BlogEntry}Repository: {BlogEntry}Repository {
                private let repository: Repository<{BlogEntry}>

                /// Makes a repository of the {blog entries} that an upstream has, with a memory of its own.
                public init(upstream: Upstream) {
                    let {blogEntries} = Endpoint({BlogEntry}DTO.self, at: "{blogEntries}")
                    repository = Repository({blogEntries}, upstream: upstream)
                }

                /// All {blog entries} in the upstream's order, without the damaged records, which the reading names.
                ///
                /// - Complexity: O(1) if they are in memory, otherwise O(n) in the size of the answer.
                /// - Throws: a `RepositoryError` if there is no list to be had.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try await repository.entities(.all, policy)
                }
            }
            """#
    )
}

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

extension FileTemplate {
    static let listPresenter = Self(
        "Sources/Rings/InterfaceAdapters/{BlogEntries}/{BlogEntry}ListPresenter.swift",
        imports: ["public import Entities", "public import InwardCore", "public import UseCases"],
        text: #"""
            /// Turns what `List{BlogEntries}` answers into what a view shows.
            public struct {BlogEntry}ListPresenter: Sendable {
                /// Makes a presenter.
                public init() {}

                /// What to show of the {blog entries}.
                public func present(_ reading: Reading<[{BlogEntry}]>) -> {BlogEntry}ListViewModel {
                    {BlogEntry}ListViewModel(
                        rows: reading.value.map { .init(id: $0.id.rawValue, text: $0.text) },
                        origin: reading.origin.description,
                        notes: reading.notes
                    )
                }

                /// What to show of a failure to list them.
                public func present(_ error: List{BlogEntries}Error) -> FailureViewModel {
                    let summary = "The {blog entries} could not be listed"
                    return switch error {
                    case .cancelled: FailureViewModel("Listing the {blog entries} was cancelled")
                    case .unavailable(let cause): .unavailable(summary, cause)
                    case .denied(let cause): .denied(summary, cause)
                    case .unreadable(let cause): .unreadable(summary, cause)
                    }
                }
            }
            """#
    )
}

extension FileTemplate {
    static let upstreamRepositoryTests = Self(
        "Tests/Rings/InterfaceAdaptersTests/{BlogEntries}/Upstream{BlogEntry}RepositoryTests.swift",
        imports: [
            "import Entities", "import InterfaceAdapters", "import InwardCore", "import InwardFetching",
            "import InwardRepositories", "import InwardTesting", "import TestSupport", "import Testing",
            "import UseCasesTesting",
        ],
        text: #"""
            struct Upstream{BlogEntry}RepositoryTests {
                @Test func recordsBecomeWhatTheyDescribeAndDamagedOnesAreNamed() async throws {
                    let upstream = try Upstream.example(
                        answering: """
                            [{"id": 7, "text": " On engines. ", "extra": 1}, {"id": 8, "text": " "}, {"text": "x"},
                             {"id": 3, "text": "x"}, {"id": 9, "text": 9}, {"id": 7, "text": "x"}]
                            """
                    )
                    let repository = Upstream{BlogEntry}Repository(upstream: upstream)
                    let reading = try await repository.{blogEntries}(.cacheFirst)
                    #expect(try reading.value == [.example(7, text: "On engines."), .example(3, text: "x")])
                    #expect(reading.origin == .upstream)
                    #expect(
                        reading.rejected.map(\.description) == [
                            "{blogEntries}[1].text breaks a rule: \({BlogEntry}Error.blankText)",
                            "{blogEntries}[2].id is missing",
                            "{blogEntries}[4].text is not a text",
                            "{blogEntries}[5].id was used before, at position 0",
                        ]
                    )
                }

                @Test func whatIsNoListIsAnErrorThatSaysWhere() async throws {
                    let repository = Upstream{BlogEntry}Repository(upstream: try .example(answering: "{}"))
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.{blogEntries}(.cacheFirst)
                    }
                    #expect(error?.reason == .unreadable)
                    #expect(error?.request == "GET http://upstream.test/api/{blogEntries}")
                }

                @Test func readingFromTheUpstreamItselfTellsCachesSo() async throws {
                    let source = RecordingDataFetcher(StubDataFetcher(failing: .unreachable))
                    let repository = Upstream{BlogEntry}Repository(upstream: try .example(source))
                    _ = try? await repository.{blogEntries}(.upstream)
                    _ = try? await repository.{blogEntries}(.cacheFirst)
                    #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", nil])
                }
            }
            """#
    )
}

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
