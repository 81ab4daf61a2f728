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
                    _ policy: ReadPolicy = .cacheFirst
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

extension FileTemplate {
    static let listUseCaseTests = Self(
        "Tests/Rings/UseCasesTests/{BlogEntries}/List{BlogEntries}Tests.swift",
        imports: [
            "import Entities", "import InwardCore", "import TestSupport", "import Testing", "import UseCases",
            "import UseCasesTesting",
        ],
        text: #"""
            struct List{BlogEntries}Tests {
                /// Answers from a copy where one will do.
                private struct CopyingRepository: {BlogEntry}Repository {
                    func {blogEntries}(
                        _ policy: ReadPolicy
                    ) async throws(RepositoryError) -> Reading<[Entities.{BlogEntry}]> {
                        Reading([], origin: policy.allowsCopies ? .memory : .upstream)
                    }
                }

                @Test func theyComeInTheOrderOfTheirTextsWhateverTheirCase() async throws {
                    let {blogEntries} = InMemory{BlogEntry}Repository([
                        try .example(9, text: "bob"), try .example(8, text: "Ada"), try .example(7, text: "ada"),
                        try .example(6, text: "Élise"), try .example(5, text: "Carl"),
                    ])
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.value.map(\.id.rawValue) == [7, 8, 9, 5, 6])
                }

                @Test func theReadingKeepsItsProvenance() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let {blogEntries} = InMemory{BlogEntry}Repository([try .example()], rejected: rejected)
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.origin == .memory)
                    #expect(reading.rejected == rejected)
                }

                @Test func thePolicyReachesTheRepository() async throws {
                    let list = List{BlogEntries}({blogEntries}: CopyingRepository())
                    #expect(try await list(.upstreamOnly).origin == .upstream)
                    #expect(try await list().origin == .memory)
                }

                @Test(arguments: RepositoryError.allReasons)
                func everyFailureIsTranslated(reason: RepositoryError.Reason) async {
                    let cause = RepositoryError.example(reason)
                    let expected: List{BlogEntries}Error =
                        switch reason {
                        case .cancelled: .cancelled
                        case .denied: .denied(cause)
                        case .unreadable: .unreadable(cause)
                        default: .unavailable(cause)
                        }
                    let {blogEntries} = InMemory{BlogEntry}Repository(failure: cause)
                    let list = List{BlogEntries}({blogEntries}: {blogEntries})
                    await #expect(throws: expected) { try await list() }
                }
            }
            """#
    )
}
