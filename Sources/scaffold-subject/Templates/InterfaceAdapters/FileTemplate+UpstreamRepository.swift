extension FileTemplate {
    static let upstreamRepository = Self(
        "Sources/InterfaceAdapters/{BlogEntries}/Upstream{BlogEntry}Repository.swift",
        imports: ["public import Entities", "public import UseCases"],
        text: #"""
            /// Gets {blog entries} from an upstream that keeps them as JSON, a list at `{blogEntries}`.
            public struct Upstream{BlogEntry}Repository: {BlogEntry}Repository {
                private let upstream: Upstream

                /// Makes a repository of the {blog entries} that an upstream has.
                public init(upstream: Upstream) {
                    self.upstream = upstream
                }

                /// All {blog entries} in the upstream's order, without the damaged records, which the reading names.
                ///
                /// - Complexity: O(n) in the size of the answer.
                /// - Throws: a `RepositoryError` if the upstream has no list to give.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try await upstream.list({BlogEntry}DTO.self, path: "{blogEntries}", policy)
                }
            }
            """#
    )
}
