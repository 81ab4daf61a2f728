extension FileTemplate {
    static let editUseCase = Self(
        "Edit{BlogEntries}",
        in: .sources(.useCases),
        imports: ["public import {Entities}", "public import InwardCore"],
        text: #"""
            /// A use case that creates, changes and deletes {blog entries}.
            ///
            /// If the session has an outbox, writes are accepted immediately, even offline, and delivered in the background.
            public struct Edit{BlogEntries}: Sendable {
                private let {blogEntries}: any {BlogEntry}Repository

                /// Creates the use case with a repository.
                public init({blogEntries}: any {BlogEntry}Repository) {
                    self.{blogEntries} = {blogEntries}
                }

                /// Creates {a blog entry} with a text, and returns it. It is pending until it is delivered.
                ///
                /// - Throws: An ``Edit{BlogEntries}Error``.
                @discardableResult
                public func create(
                    _ text: String
                ) async throws(Edit{BlogEntries}Error) -> Reading<{BlogEntry}> {
                    let draft = try Self.draft(text)
                    do {
                        return try await {blogEntries}.create(draft)
                    } catch {
                        throw Edit{BlogEntries}Error(error)
                    }
                }

                /// Changes the text of {a blog entry}, even of a pending one, and returns it.
                ///
                /// - Throws: An ``Edit{BlogEntries}Error``.
                @discardableResult
                public func change(
                    _ id: {BlogEntry}.ID,
                    to text: String
                ) async throws(Edit{BlogEntries}Error) -> Reading<{BlogEntry}> {
                    let draft = try Self.draft(text)
                    do {
                        return try await {blogEntries}.update(id) { $0.revise(to: draft) }
                    } catch {
                        throw Edit{BlogEntries}Error(error)
                    }
                }

                /// Deletes {a blog entry}, even a pending one.
                ///
                /// - Throws: An ``Edit{BlogEntries}Error``.
                public func delete(_ id: {BlogEntry}.ID) async throws(Edit{BlogEntries}Error) {
                    do {
                        try await {blogEntries}.delete(id)
                    } catch {
                        throw Edit{BlogEntries}Error(error)
                    }
                }

                private static func draft(
                    _ text: String
                ) throws(Edit{BlogEntries}Error) -> {BlogEntry}Draft {
                    do {
                        return try {BlogEntry}Draft(text: text)
                    } catch {
                        throw .invalid(error)
                    }
                }
            }

            /// An error that occurs while {a blog entry} is created, changed or deleted.
            public enum Edit{BlogEntries}Error: Error, Hashable, Sendable {
                /// The caller cancelled the write. If it was already sent, it may have taken effect.
                case cancelled
                /// The text breaks a rule. Nothing was written.
                case invalid({BlogEntry}Error)
                /// The {blog entry} was changed elsewhere in the meantime. Nothing was written.
                case conflict(RepositoryError)
                /// The write was sent but not answered, so it may have taken effect. Read before you write again.
                case outcomeUnknown(RepositoryError)
                /// Nothing was written. The cause says why, and whether a retry can help.
                case failed(RepositoryError)

                init(_ error: RepositoryError) {
                    self =
                        switch error.reason.code {
                        case .cancelled: .cancelled
                        case .conflict: .conflict(error)
                        case .outcomeUnknown: .outcomeUnknown(error)
                        case .closed, .notFound, .unavailable, .denied, .refused, .unreadable: .failed(error)
                        }
                }
            }
            """#
    )

    static let editUseCaseTests = Self(
        "Edit{BlogEntries}Tests",
        in: .tests(.useCases),
        imports: [
            "import {Entities}", "import InwardCore", "import Testing", "import {UseCases}", "import {UseCasesTesting}",
        ],
        text: #"""
            struct Edit{BlogEntries}Tests {
                private let {blogEntries} = InMemory{BlogEntry}Repository()

                private var edit{BlogEntries}: Edit{BlogEntries} {
                    Edit{BlogEntries}({blogEntries}: {blogEntries})
                }

                private func texts() async throws -> [String] {
                    try await {blogEntries}.{blogEntries}(.cacheFirst).value.map(\.text)
                }

                @Test func writesReachTheRepository() async throws {
                    let first = try await edit{BlogEntries}.create("One").value
                    let second = try await edit{BlogEntries}.create("Two").value
                    let changed = try await edit{BlogEntries}.change(second.id, to: "Second").value
                    #expect(changed.text == "Second")
                    #expect(try await texts() == ["One", "Second"])
                    try await edit{BlogEntries}.delete(first.id)
                    #expect(try await texts() == ["Second"])
                }

                @Test func textThatBreaksARuleIsNotWritten() async throws {
                    let invalid = Edit{BlogEntries}Error.invalid(.blankText)
                    let first = try await edit{BlogEntries}.create("One").value
                    await #expect(throws: invalid) { try await edit{BlogEntries}.create(" ") }
                    await #expect(throws: invalid) { try await edit{BlogEntries}.change(first.id, to: " ") }
                    #expect(try await texts() == ["One"])
                }

                @Test(arguments: [
                    RepositoryError.Reason.cancelled, .closed, .notFound, .unavailable, .denied, .refused, .conflict,
                    .unreadable, .outcomeUnknown,
                ])
                func everyFailureIsTranslated(reason: RepositoryError.Reason) async {
                    let cause = RepositoryError(reason, request: "PATCH x", explanation: "failed")
                    let expected: Edit{BlogEntries}Error =
                        switch reason {
                        case .cancelled: .cancelled
                        case .conflict: .conflict(cause)
                        case .outcomeUnknown: .outcomeUnknown(cause)
                        default: .failed(cause)
                        }
                    {blogEntries}.fail(with: cause)
                    await #expect(throws: expected) { try await edit{BlogEntries}.create("x") }
                    await #expect(throws: expected) { try await edit{BlogEntries}.change(.init(1), to: "x") }
                    await #expect(throws: expected) { try await edit{BlogEntries}.delete(.init(1)) }
                }
            }
            """#
    )
}
