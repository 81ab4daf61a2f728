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
