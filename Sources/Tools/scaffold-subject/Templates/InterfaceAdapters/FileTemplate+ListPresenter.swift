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
