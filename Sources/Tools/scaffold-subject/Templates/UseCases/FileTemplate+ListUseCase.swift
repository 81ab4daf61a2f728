extension FileTemplate {
    static let listUseCase = Self(
        "Sources/Rings/UseCases/{BlogEntries}/List{BlogEntries}.swift",
        imports: ["public import Entities", "public import InwardCore"],
        text: #"""
            /// Lists all {blog entries} as an index would: by text, and those of one text by identity.
            public struct List{BlogEntries}: Sendable {
                private let {blogEntries}: any {BlogEntry}Repository

                /// Makes the use case over the repository that has the {blog entries}.
                public init({blogEntries}: any {BlogEntry}Repository) {
                    self.{blogEntries} = {blogEntries}
                }

                /// The {blog entries} in the order of their texts, which ignores case.
                ///
                /// - Complexity: O(n log n) in the number of {blog entries}.
                /// - Throws: a ``List{BlogEntries}Error`` if there is no list to be had.
                public func callAsFunction(
                    _ policy: ReadPolicy = .nearest
                ) async throws(List{BlogEntries}Error) -> Reading<[{BlogEntry}]> {
                    do {
                        return try await {blogEntries}.{blogEntries}(policy).map(Self.inOrderOfTexts)
                    } catch {
                        throw List{BlogEntries}Error(error)
                    }
                }

                private static func inOrderOfTexts(_ all: [{BlogEntry}]) -> [{BlogEntry}] {
                    all.map { (key: $0.text.lowercased(), entity: $0) }
                        .sorted { ($0.key, $0.entity.id) < ($1.key, $1.entity.id) }
                        .map(\.entity)
                }
            }
            """#
    )
}
