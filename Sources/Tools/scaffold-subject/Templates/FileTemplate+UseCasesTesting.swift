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

extension FileTemplate {
    static let entityExample = Self(
        "Sources/Testing/UseCasesTesting/{BlogEntries}/{BlogEntry}+Example.swift",
        imports: ["public import Entities"],
        text: #"""
            extension {BlogEntry} {
                /// A valid {blog entry} of which nothing matters but what is given.
                ///
                /// - Throws: `{BlogEntry}Error` if the text is blank or too long.
                public static func example(_ id: Int = 1, text: String? = nil) throws -> {BlogEntry} {
                    try {BlogEntry}(id: ID(id), text: text ?? "Text \(id)")
                }
            }
            """#
    )
}

extension FileTemplate {
    static let inMemoryRepositoryTests = Self(
        "Tests/Testing/UseCasesTestingTests/{BlogEntries}/InMemory{BlogEntry}RepositoryTests.swift",
        imports: ["import Entities", "import InwardCore", "import Testing", "import UseCasesTesting"],
        text: #"""
            struct InMemory{BlogEntry}RepositoryTests {
                @Test func itAnswersWithWhatItWasGiven() async throws {
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

                @Test func aFailureLastsUntilItIsTakenBack() async throws {
                    let failure = RepositoryError(.denied, request: "x", explanation: "failed")
                    let repository = InMemory{BlogEntry}Repository([try .example()])
                    repository.fail(with: failure)
                    await #expect(throws: failure) { try await repository.{blogEntries}(.cacheFirst) }
                    repository.fail(with: nil)
                    #expect(try await repository.{blogEntries}(.cacheFirst).origin == .memory)
                }

                @Test func aCancelledTaskGetsNoAnswer() async {
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
