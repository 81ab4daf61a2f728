extension FileTemplate {
    static let repositoryPort = Self(
        "{BlogEntry}Repository",
        in: .sources(.useCases),
        imports: ["public import {Entities}", "public import InwardCore"],
        text: #"""
            /// The port through which the use cases get {blog entries}.
            ///
            /// Implementations answer from the places that the policy allows. They leave damaged records out of a list and name
            /// them in the reading. If the task is cancelled, they stop waiting and throw `RepositoryError.Reason.cancelled`.
            public protocol {BlogEntry}Repository: Sendable {
                /// Returns all {blog entries} in the source's order. No two have the same identity.
                ///
                /// - Throws: a `RepositoryError` if the list is not available.
                func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]>
            }
            """#
    )

    static let listUseCase = Self(
        "List{BlogEntries}",
        in: .sources(.useCases),
        imports: ["public import {Entities}", "public import InwardCore"],
        text: #"""
            /// Lists all {blog entries} in the order of their texts.
            public struct List{BlogEntries}: Sendable {
                private let {blogEntries}: any {BlogEntry}Repository

                /// Creates the use case over a repository.
                public init({blogEntries}: any {BlogEntry}Repository) {
                    self.{blogEntries} = {blogEntries}
                }

                /// Returns the {blog entries} in the order of their texts, which ignores case.
                ///
                /// Equal texts are in the order of their identities.
                ///
                /// - Complexity: O(n log n) in the number of {blog entries}.
                /// - Throws: a ``List{BlogEntries}Error`` if the list is not available.
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

            /// Why the {blog entries} could not be listed.
            public enum List{BlogEntries}Error: Error, Hashable, Sendable {
                /// The caller cancelled the request.
                case cancelled
                /// The {blog entries} are not available now; the cause says whether a retry can help.
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
                /// Says which origin the policy allows.
                private struct OriginRepository: {BlogEntry}Repository {
                    func {blogEntries}(
                        _ policy: ReadPolicy
                    ) async throws(RepositoryError) -> Reading<[{Entities}.{BlogEntry}]> {
                        Reading([], origin: policy.allowsCopies ? .memory : .upstream)
                    }
                }

                @Test func textsAreOrderedWithoutRegardToCase() async throws {
                    let {blogEntries} = InMemory{BlogEntry}Repository([
                        try .example(9, text: "bob"), try .example(8, text: "Ada"), try .example(7, text: "ada"),
                        try .example(6, text: "Élise"), try .example(5, text: "Carl"),
                    ])
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.value.map(\.id.rawValue) == [7, 8, 9, 5, 6])
                }

                @Test func theReadingKeepsItsOrigin() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let {blogEntries} = InMemory{BlogEntry}Repository([try .example()], rejected: rejected)
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.origin == .memory)
                    #expect(reading.rejected == rejected)
                }

                @Test func thePolicyReachesTheRepository() async throws {
                    let list = List{BlogEntries}({blogEntries}: OriginRepository())
                    #expect(try await list(.upstreamOnly).origin == .upstream)
                    #expect(try await list().origin == .memory)
                }

                @Test(arguments: [
                    RepositoryError.Reason.cancelled, .closed, .notFound, .unavailable, .denied, .refused, .unreadable,
                    .outcomeUnknown,
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
            "public import {Entities}", "public import InwardCore", "import Synchronization",
            "public import {UseCases}",
        ],
        text: #"""
            /// A repository that keeps {blog entries} in memory, for the tests of code that uses the port.
            public final class InMemory{BlogEntry}Repository: {BlogEntry}Repository {
                private let failure: Mutex<RepositoryError?>
                private let reading: Reading<[{BlogEntry}]>

                /// Creates a repository of these {blog entries}.
                ///
                /// - Parameters:
                ///   - {blogEntries}: The list, in this order.
                ///   - rejected: The records that the reading names as left out.
                ///   - failure: The error to throw instead of answering; `nil` to answer.
                public init(
                    _ {blogEntries}: [{BlogEntry}] = [],
                    rejected: [RejectedRecord] = [],
                    failure: RepositoryError? = nil
                ) {
                    reading = Reading({blogEntries}, origin: .memory, rejected: rejected)
                    self.failure = Mutex(failure)
                }

                /// Throws this error from now on; `nil` to answer again.
                public func fail(with error: RepositoryError?) {
                    failure.withLock { $0 = error }
                }

                /// Returns all {blog entries}, in the order they were given.
                ///
                /// - Throws: the `RepositoryError` set by ``fail(with:)``, or `cancelled`.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    guard !Task.isCancelled else {
                        throw RepositoryError(.cancelled, request: "All {blog entries}", explanation: "was cancelled")
                    }
                    if let failure = failure.withLock(\.self) { throw failure }
                    return reading
                }
            }

            extension {BlogEntry} {
                /// Returns a valid {blog entry} for a test that needs no other values than these.
                ///
                /// - Throws: `{BlogEntry}Error` if the text is blank or too long.
                public static func example(_ id: Int = 1, text: String? = nil) throws -> {BlogEntry} {
                    try {BlogEntry}(id: ID(id), text: text ?? "Text \(id)")
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
                @Test func theListIsAsGiven() async throws {
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

                @Test func failuresLastUntilTheyAreCleared() async throws {
                    let failure = RepositoryError(.denied, request: "x", explanation: "failed")
                    let repository = InMemory{BlogEntry}Repository([try .example()])
                    repository.fail(with: failure)
                    await #expect(throws: failure) { try await repository.{blogEntries}(.cacheFirst) }
                    repository.fail(with: nil)
                    #expect(try await repository.{blogEntries}(.cacheFirst).origin == .memory)
                }

                @Test func cancelledTasksGetNoAnswer() async {
                    let repository = InMemory{BlogEntry}Repository()
                    await withTaskGroup { group in
                        group.addTask {
                            while !Task.isCancelled { await Task.yield() }
                            let error = await #expect(throws: RepositoryError.self) {
                                try await repository.{blogEntries}(.cacheFirst)
                            }
                            #expect(error?.reason == .cancelled)
                        }
                        group.cancelAll()
                    }
                }
            }
            """#
    )
}
