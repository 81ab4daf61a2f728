/// Templates for adapters that have view models for renderers.
extension FileTemplate {
    static let documentPresenter = Self(
        "{BlogEntry}ListPresenter",
        in: .sources(.adapters),
        imports: ["public import {Entities}", "public import InwardCore", "public import {UseCases}"],
        text: #"""
            /// A presenter that turns results of `List{BlogEntries}` into view models.
            public struct {BlogEntry}ListPresenter: Sendable {
                /// Creates a presenter.
                public init() {}

                /// Returns the view model of the {blog entries}.
                public func present(_ reading: Reading<[{BlogEntry}]>) -> {BlogEntry}ListViewModel {
                    {BlogEntry}ListViewModel(
                        rows: reading.value.map { .init(id: $0.id.rawValue, text: $0.text) },
                        origin: reading.origin.description,
                        notes: reading.notes
                    )
                }

                /// Returns the view model of an error.
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

            /// The view model of all {blog entries}.
            public struct {BlogEntry}ListViewModel: ViewModel, Hashable {
                /// The view model of {a blog entry}.
                public struct Row: Hashable, Encodable, Sendable {
                    /// The identifier.
                    public let id: Int
                    /// The text.
                    public let text: String
                }

                /// The {blog entries}, in the order in which they are shown.
                public let rows: [Row]
                /// The source of the {blog entries}.
                public let origin: String
                /// Notes, such as that the list is stale or that a record was left out.
                public let notes: [String]

                /// A table of the {blog entries}, and the notes.
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

    static let documentPresenterTests = Self(
        "{BlogEntry}ListPresenterTests",
        in: .tests(.adapters),
        imports: [
            "import {Entities}", "import {InterfaceAdapters}", "import InwardCore", "import Testing",
            "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntry}ListPresenterTests {
                private func {blogEntry}(_ id: Int, _ text: String) throws -> {Entities}.{BlogEntry} {
                    try .init(id: .init(id), {BlogEntry}Draft(text: text))
                }

                private func line(_ error: List{BlogEntries}Error) -> String {
                    {BlogEntry}ListPresenter().present(error).line
                }

                @Test func listAndNotesAreShown() throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let viewModel = {BlogEntry}ListPresenter().present(
                        Reading([try {blogEntry}(7, "On engines.")], origin: .upstream, rejected: rejected)
                    )
                    #expect(viewModel.rows.map(\.id) == [7])
                    #expect(viewModel.rows.map(\.text) == ["On engines."])
                    #expect(viewModel.origin == "upstream")
                    #expect(viewModel.notes == ["Left out: x[3].id is missing"])
                    let blocks = viewModel.document.blocks
                    #expect(blocks.first == .heading("{Blog entries}"))
                    #expect(blocks.last == .notes(["Left out: x[3].id is missing"]))
                }

                @Test func longTextsAreShortenedToOneLine() throws {
                    let text = "One\n\n" + String(repeating: "x", count: 100)
                    let viewModel = {BlogEntry}ListPresenter().present(
                        Reading([try {blogEntry}(1, text)], origin: .memory)
                    )
                    #expect(viewModel.rows.map(\.text) == [text])
                    let tables = viewModel.document.blocks.compactMap { block in
                        if case .table(let table) = block { table } else { nil }
                    }
                    let beginning = "One " + String(repeating: "x", count: 55) + "…"
                    #expect(tables.map(\.rows) == [[[Table.Cell("1"), Table.Cell(beginning, detail: text)]]])
                }

                @Test func everyFailureIsExplained() {
                    let cause = RepositoryError(.unavailable, request: "GET x", explanation: "failed", canRetry: true)
                    #expect(line(.cancelled) == "Listing the {blog entries} was cancelled.")
                    for error in [List{BlogEntries}Error.denied(cause), .unavailable(cause), .unreadable(cause)] {
                        #expect(line(error).hasPrefix("The {blog entries} could not be listed: GET x failed. "))
                    }
                }
            }
            """#
    )
}

/// Templates for adapters without view models for renderers.
extension FileTemplate {
    static let presenter = Self(
        "{BlogEntry}ListPresenter",
        in: .sources(.adapters),
        imports: ["public import {Entities}", "public import InwardCore", "public import {UseCases}"],
        text: #"""
            /// A presenter that turns results of `List{BlogEntries}` into view models.
            public struct {BlogEntry}ListPresenter: Sendable {
                /// Creates a presenter.
                public init() {}

                /// Returns the view model of the {blog entries}.
                public func present(_ reading: Reading<[{BlogEntry}]>) -> {BlogEntry}ListViewModel {
                    var notes: [String] = []
                    if reading.isStale { notes.append("The list is \(reading.age) old.") }
                    if reading.isPending { notes.append("This includes changes that the upstream has not accepted yet.") }
                    return {BlogEntry}ListViewModel(
                        rows: reading.value.map { .init(id: $0.id.rawValue, text: $0.text) },
                        origin: reading.origin.description,
                        notes: notes + reading.rejected.map { "Left out: \($0)" }
                    )
                }

                /// Returns an error as a sentence.
                public func present(_ error: List{BlogEntries}Error) -> String {
                    switch error {
                    case .cancelled: "Listing the {blog entries} was cancelled."
                    case .unavailable(let cause): "The {blog entries} are not available: \(cause)."
                    case .denied(let cause): "You are not allowed to see the {blog entries}: \(cause)."
                    case .unreadable(let cause): "The list of {blog entries} cannot be read: \(cause)."
                    }
                }
            }

            /// The view model of all {blog entries}.
            public struct {BlogEntry}ListViewModel: Hashable, Encodable, Sendable {
                /// The view model of {a blog entry}.
                public struct Row: Hashable, Encodable, Sendable {
                    /// The identifier.
                    public let id: Int
                    /// The text.
                    public let text: String
                }

                /// The {blog entries}, in the order in which they are shown.
                public let rows: [Row]
                /// The source of the {blog entries}.
                public let origin: String
                /// Notes, such as that the list is stale or that a record was left out.
                public let notes: [String]
            }
            """#
    )

    static let presenterTests = Self(
        "{BlogEntry}ListPresenterTests",
        in: .tests(.adapters),
        imports: [
            "import {Entities}", "import {InterfaceAdapters}", "import InwardCore", "import Testing",
            "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntry}ListPresenterTests {
                private func {blogEntry}(_ id: Int, _ text: String) throws -> {Entities}.{BlogEntry} {
                    try .init(id: .init(id), {BlogEntry}Draft(text: text))
                }

                @Test func listAndNotesAreShown() throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let viewModel = {BlogEntry}ListPresenter().present(
                        Reading(
                            [try {blogEntry}(7, "On engines.")],
                            origin: .upstream,
                            age: .seconds(60),
                            isStale: true,
                            isPending: true,
                            rejected: rejected
                        )
                    )
                    #expect(viewModel.rows.map(\.id) == [7])
                    #expect(viewModel.rows.map(\.text) == ["On engines."])
                    #expect(viewModel.origin == "upstream")
                    #expect(
                        viewModel.notes == [
                            "The list is 60.0 seconds old.",
                            "This includes changes that the upstream has not accepted yet.",
                            "Left out: x[3].id is missing",
                        ]
                    )
                }

                @Test func everyFailureIsExplained() {
                    let presenter = {BlogEntry}ListPresenter()
                    let cause = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
                    #expect(presenter.present(.cancelled) == "Listing the {blog entries} was cancelled.")
                    for error in [List{BlogEntries}Error.denied(cause), .unavailable(cause), .unreadable(cause)] {
                        #expect(presenter.present(error).hasSuffix(": GET x failed."))
                    }
                }
            }
            """#
    )
}
