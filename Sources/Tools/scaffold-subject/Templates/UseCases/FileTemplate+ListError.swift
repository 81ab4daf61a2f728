extension FileTemplate {
    static let listError = Self(
        "Sources/Rings/UseCases/{BlogEntries}/List{BlogEntries}Error.swift",
        imports: ["public import InwardCore"],
        text: #"""
            /// Why the {blog entries} could not be listed.
            public enum List{BlogEntries}Error: Error, Hashable, Sendable {
                /// The caller gave up.
                case cancelled
                /// The {blog entries} cannot be had now; the cause says whether asking again can help.
                case unavailable(RepositoryError)
                /// Whoever has the {blog entries} does not give them to this caller.
                case denied(RepositoryError)
                /// What came is no list of {blog entries}.
                case unreadable(RepositoryError)

                init(_ error: RepositoryError) {
                    self =
                        switch error.reason.code {
                        case .cancelled: .cancelled
                        case .denied: .denied(error)
                        case .unreadable: .unreadable(error)
                        case .closed, .notFound, .unavailable, .refused, .outcomeUnknown: .unavailable(error)
                        }
                }
            }
            """#
    )
}
