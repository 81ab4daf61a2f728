extension FileTemplate {
    static let repositoryPort = Self(
        "Sources/Rings/UseCases/{BlogEntries}/{BlogEntry}Repository.swift",
        imports: ["public import Entities", "public import InwardCore"],
        text: #"""
            /// The port through which the use cases get {blog entries}.
            ///
            /// Whoever implements it answers from wherever it keeps them, as far away as the policy allows, leaves damaged
            /// records out of a list and names them in the reading, and ends a wait with
            /// ``RepositoryError/Reason/cancelled`` when the task that asked is cancelled.
            public protocol {BlogEntry}Repository: Sendable {
                /// All {blog entries}, in the source's order. No two have the same identity.
                ///
                /// - Throws: a ``RepositoryError`` if there is no list to be had at all.
                func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]>
            }
            """#
    )
}
