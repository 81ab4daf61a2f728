extension FileTemplate {
    static let repositoryPort = Self(
        "{BlogEntry}Repository",
        in: .sources(.useCases),
        imports: ["public import {Entities}", "public import InwardCore"],
        text: #"""
            /// The port through which the use cases read and write {blog entries}.
            ///
            /// Implementations read from the sources that the policy allows. They leave damaged records out of a list and
            /// report them in the reading. If the task is cancelled, they stop waiting and throw a `RepositoryError` with the
            /// reason `cancelled`.
            public protocol {BlogEntry}Repository: Sendable {
                /// Returns all {blog entries} in the source's order. No two have the same identifier.
                ///
                /// - Throws: A `RepositoryError` if the list is not available.
                func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]>

                /// Creates {a blog entry}, and returns it. It is pending until the source accepts it.
                ///
                /// - Throws: A `RepositoryError`, with `outcomeUnknown` if the draft was sent but not answered.
                func create(
                    _ draft: {BlogEntry}Draft
                ) async throws(RepositoryError) -> Reading<{BlogEntry}>

                /// Updates {a blog entry}, even a pending one, and returns it.
                ///
                /// The closure may be called more than once.
                ///
                /// - Throws: A `RepositoryError`, with `conflict` if it was changed elsewhere in the meantime.
                func update(
                    _ id: {BlogEntry}.ID,
                    _ change: @Sendable (inout {BlogEntry}) -> Void
                ) async throws(RepositoryError) -> Reading<{BlogEntry}>

                /// Deletes {a blog entry}, even a pending one. If it does not exist, nothing happens.
                ///
                /// - Throws: A `RepositoryError`, with `conflict` if it was changed elsewhere in the meantime.
                func delete(_ id: {BlogEntry}.ID) async throws(RepositoryError)
            }
            """#
    )

    static let listUseCase = Self(
        "List{BlogEntries}",
        in: .sources(.useCases),
        imports: ["public import {Entities}", "public import InwardCore"],
        text: #"""
            /// A use case that lists all {blog entries}, sorted by text.
            public struct List{BlogEntries}: Sendable {
                private let {blogEntries}: any {BlogEntry}Repository

                /// Creates the use case with a repository.
                public init({blogEntries}: any {BlogEntry}Repository) {
                    self.{blogEntries} = {blogEntries}
                }

                /// Returns the {blog entries} sorted by text, ignoring case.
                ///
                /// Entities with equal texts are sorted by identifier.
                ///
                /// - Complexity: O(n log n) in the number of {blog entries}.
                /// - Throws: A ``List{BlogEntries}Error`` if the list is not available.
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

            /// An error that occurs while listing {blog entries}.
            public enum List{BlogEntries}Error: Error, Hashable, Sendable {
                /// The caller cancelled the request.
                case cancelled
                /// The {blog entries} are not available now. The cause says whether a retry can help.
                case unavailable(RepositoryError)
                /// The caller may not see the {blog entries}.
                case denied(RepositoryError)
                /// The answer is not a list of {blog entries}.
                case unreadable(RepositoryError)

                init(_ error: RepositoryError) {
                    self =
                        switch error.reason.code {
                        case .cancelled: .cancelled
                        case .denied: .denied(error)
                        case .unreadable: .unreadable(error)
                        case .closed, .notFound, .unavailable, .refused, .conflict, .outcomeUnknown: .unavailable(error)
                        }
                }
            }
            """#
    )

    static let listUseCaseTests = Self(
        "List{BlogEntries}Tests",
        in: .tests(.useCases),
        imports: [
            "import {Entities}", "import InwardCore", "import Testing", "import {UseCases}", "import {UseCasesTesting}",
        ],
        text: #"""
            struct List{BlogEntries}Tests {
                @Test func textsAreSortedIgnoringCase() async throws {
                    let {blogEntries} = InMemory{BlogEntry}Repository([
                        try .example(9, text: "bob"), try .example(8, text: "Ada"), try .example(7, text: "ada"),
                        try .example(6, text: "Élise"), try .example(5, text: "Carl"),
                    ])
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.value.map(\.id.rawValue) == [7, 8, 9, 5, 6])
                }

                @Test func readingKeepsItsOriginAndRejectedRecords() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let {blogEntries} = InMemory{BlogEntry}Repository([try .example()], rejected: rejected)
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.origin == .memory)
                    #expect(reading.rejected == rejected)
                }

                @Test func policyReachesTheRepository() async throws {
                    let {blogEntries} = InMemory{BlogEntry}Repository()
                    let list = List{BlogEntries}({blogEntries}: {blogEntries})
                    _ = try await list()
                    _ = try await list(.upstreamOnly)
                    #expect({blogEntries}.policies == [.cacheFirst, .upstreamOnly])
                }

                @Test(arguments: [
                    RepositoryError.Reason.cancelled, .closed, .notFound, .unavailable, .denied, .refused, .conflict,
                    .unreadable, .outcomeUnknown,
                ])
                func everyFailureIsTranslated(reason: RepositoryError.Reason) async {
                    let cause = RepositoryError(reason, request: "GET x", explanation: "failed")
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

extension FileTemplate {
    static let inMemoryRepository = Self(
        "InMemory{BlogEntry}Repository",
        in: .sources(.doubles),
        imports: [
            "public import {Entities}", "public import InwardCore", "import InwardTesting",
            "public import {UseCases}",
        ],
        text: #"""
            /// An in-memory repository of {blog entries} for tests. Writes take effect immediately.
            ///
            /// ```swift
            /// let {blogEntries} = try InMemory{BlogEntry}Repository([.example(1), .example(2)])
            /// ```
            public final class InMemory{BlogEntry}Repository: {BlogEntry}Repository {
                private let {blogEntries}: InMemoryRepository<{BlogEntry}>

                /// Creates a repository.
                ///
                /// - Parameters:
                ///   - {blogEntries}: The {blog entries}, in order.
                ///   - rejected: The damaged records that every list reports as omitted.
                ///   - failure: The error that calls throw, or `nil` if they succeed.
                public init(
                    _ {blogEntries}: [{BlogEntry}] = [],
                    rejected: [RejectedRecord] = [],
                    failure: RepositoryError? = nil
                ) {
                    self.{blogEntries} = InMemoryRepository(
                        {blogEntries},
                        rejected: rejected,
                        failure: failure
                    )
                }

                /// The policies of the reads so far, in order.
                public var policies: [ReadPolicy] { {blogEntries}.policies }

                /// Makes calls throw an error from now on, or succeed again if the error is `nil`.
                public func fail(with error: RepositoryError?) { {blogEntries}.fail(with: error) }

                /// Returns all {blog entries}, in the order in which they were added.
                ///
                /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try await {blogEntries}.entities(policy)
                }

                /// Creates {a blog entry}. Its identifier is one greater than the largest one so far.
                ///
                /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
                public func create(
                    _ draft: {BlogEntry}Draft
                ) async throws(RepositoryError) -> Reading<{BlogEntry}> {
                    try await {blogEntries}.create { {BlogEntry}(id: .init($0), draft) }
                }

                /// Updates {a blog entry}.
                ///
                /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`.
                public func update(
                    _ id: {BlogEntry}.ID,
                    _ change: @Sendable (inout {BlogEntry}) -> Void
                ) async throws(RepositoryError) -> Reading<{BlogEntry}> {
                    try await {blogEntries}.update(id, throwing: RepositoryError.self, change)
                }

                /// Deletes {a blog entry}.
                ///
                /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
                public func delete(_ id: {BlogEntry}.ID) async throws(RepositoryError) {
                    try await {blogEntries}.delete(id, throwing: RepositoryError.self)
                }
            }

            extension {BlogEntry} {
                /// Creates a valid {blog entry}, with example values for omitted arguments.
                ///
                /// - Throws: A `{BlogEntry}Error` if the text breaks a rule.
                public static func example(
                    _ id: Int = 1,
                    text: String? = nil
                ) throws({BlogEntry}Error) -> {BlogEntry} {
                    {BlogEntry}(id: ID(id), try {BlogEntry}Draft(text: text ?? "Text \(id)"))
                }
            }
            """#
    )

    static let inMemoryRepositoryTests = Self(
        "InMemory{BlogEntry}RepositoryTests",
        in: .tests(.doubles),
        imports: ["import {Entities}", "import InwardCore", "import Testing", "import {UseCasesTesting}"],
        text: #"""
            struct InMemory{BlogEntry}RepositoryTests {
                @Test func listKeepsItsOrderAndRejectedRecords() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 0, field: nil, reason: "is null")]
                    let repository = InMemory{BlogEntry}Repository(
                        [try .example(9), try .example(7)],
                        rejected: rejected
                    )
                    let reading = try await repository.{blogEntries}(.cacheFirst)
                    #expect(reading.value.map(\.id.rawValue) == [9, 7])
                    #expect(reading.value.map(\.text) == ["Text 9", "Text 7"])
                    #expect(reading.rejected == rejected)
                }

                @Test func writesTakeEffectImmediately() async throws {
                    let repository = InMemory{BlogEntry}Repository([try .example(7)])
                    let created = try await repository.create({BlogEntry}Draft(text: "New"))
                    #expect(created.value.id.rawValue == 8)
                    let draft = try {BlogEntry}Draft(text: "Newer")
                    let updated = try await repository.update(created.value.id) { $0.revise(to: draft) }
                    #expect(updated.value.text == "Newer")
                    try await repository.delete(.init(7))
                    #expect(try await repository.{blogEntries}(.cacheFirst).value == [updated.value])
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.update(.init(7)) { $0.revise(to: draft) }
                    }
                    #expect(error?.reason == .notFound)
                    // Only the list was read.
                    #expect(repository.policies == [.cacheFirst])
                }

                @Test func failuresLastUntilTheyAreCleared() async throws {
                    let failure = RepositoryError(.denied, request: "x", explanation: "failed")
                    let repository = InMemory{BlogEntry}Repository([try .example()])
                    repository.fail(with: failure)
                    await #expect(throws: failure) { try await repository.{blogEntries}(.cacheFirst) }
                    await #expect(throws: failure) { try await repository.delete(.init(1)) }
                    repository.fail(with: nil)
                    #expect(try await repository.{blogEntries}(.cacheFirst).value.count == 1)
                }
            }
            """#
    )
}
