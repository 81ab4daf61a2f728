extension FileTemplate {
    static let inMemoryRepository = Self(
        "Sources/Testing/UseCasesTesting/{BlogEntries}/InMemory{BlogEntry}Repository.swift",
        imports: [
            "public import Entities", "public import InwardCore", "import InwardTesting", "import Synchronization",
            "public import UseCases",
        ],
        text: #"""
            /// A repository of {blog entries} that are kept in memory, for the tests of whatever uses one.
            public final class InMemory{BlogEntry}Repository: {BlogEntry}Repository {
                private let failure: Mutex<RepositoryError?>
                private let reading: Reading<[{BlogEntry}]>

                /// Makes a repository of these {blog entries}.
                ///
                /// - Parameters:
                ///   - {blogEntries}: What it has, in this order.
                ///   - rejected: What it is to name as left out of the list.
                ///   - failure: What it throws instead of an answer; `nil` if it is to answer.
                public init(
                    _ {blogEntries}: [{BlogEntry}] = [],
                    rejected: [RejectedRecord] = [],
                    failure: RepositoryError? = nil
                ) {
                    reading = Reading({blogEntries}, origin: .memory, rejected: rejected)
                    self.failure = Mutex(failure)
                }

                /// Throws this from now on instead of answering; `nil` to answer again.
                public func fail(with error: RepositoryError?) {
                    failure.withLock { $0 = error }
                }

                /// All {blog entries}, in the order they were given.
                ///
                /// - Throws: the `RepositoryError` that it is to fail with, or `cancelled`.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try RepositoryError.throwIfCancelled(asking: "All {blog entries}")
                    if let failure = failure.withLock(\.self) { throw failure }
                    return reading
                }
            }
            """#
    )
}
