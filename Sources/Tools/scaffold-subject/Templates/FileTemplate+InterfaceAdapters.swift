extension FileTemplate {
    static let dto = Self(
        "{BlogEntry}DTO",
        in: .sources(.adapters),
        imports: ["import {Entities}", "import InwardRepositories"],
        text: #"""
            /// {A blog entry} as the upstream sends it.
            struct {BlogEntry}DTO: RecordDTO {
                static let listName = "{blogEntries}"

                let id: Int
                let text: String

                init(_ {blogEntry}: {BlogEntry}) {
                    id = {blogEntry}.id.rawValue
                    text = {blogEntry}.text
                }

                func entity() throws(FieldError) -> {BlogEntry} {
                    do {
                        let draft = try {BlogEntry}Draft(text: text)
                        return {BlogEntry}(id: {BlogEntry}.ID(id), draft)
                    } catch {
                        throw FieldError(Self.field(of: error), "breaks a rule: \(error)")
                    }
                }

                private static func field(of error: {BlogEntry}Error) -> String {
                    switch error {
                    case .blankText, .textTooLong: "text"
                    }
                }
            }

            /// A draft as it is sent to the upstream. It is stored until the upstream answers.
            struct {BlogEntry}DraftDTO: Codable {
                let text: String

                init(_ draft: {BlogEntry}Draft) {
                    text = draft.text
                }
            }
            """#
    )

    /// The adapter receives a repository instead of creating one, so that it cannot create one per request by mistake.
    static let upstreamRepository = Self(
        "Upstream{BlogEntry}Repository",
        in: .sources(.adapters),
        imports: [
            "public import {Entities}", "public import InwardCore", "public import InwardRepositories",
            "public import {UseCases}",
        ],
        text: #"""
            /// A repository that reads {blog entries} from an upstream and the session's cache, and writes them.
            ///
            /// If the session has an outbox, a write is accepted immediately and delivered in the background. Until then, every
            /// list shows it as pending.
            public struct Upstream{BlogEntry}Repository: {BlogEntry}Repository {
                private let repository: Repository<{BlogEntry}>

                /// Wraps the repository of a session.
                public init(_ repository: Repository<{BlogEntry}>) {
                    self.repository = repository
                }

                /// Returns all {blog entries} in the upstream's order.
                ///
                /// Damaged records are left out, and the reading reports them.
                ///
                /// - Complexity: O(1) if the list is in memory, otherwise O(n) in the size of the answer.
                /// - Throws: A `RepositoryError` if the list is not available.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try await repository.entities(.all, policy)
                }

                /// Creates {a blog entry} from a draft, and returns it.
                ///
                /// - Throws: A `RepositoryError` if the draft was not accepted.
                public func create(
                    _ draft: {BlogEntry}Draft
                ) async throws(RepositoryError) -> Reading<{BlogEntry}> {
                    try await repository.create({BlogEntry}DraftDTO(draft))
                }

                /// Updates {a blog entry}, and returns it. Only the changed fields are sent to the upstream.
                ///
                /// - Throws: A `RepositoryError` if the update was not accepted.
                public func update(
                    _ id: {BlogEntry}.ID,
                    _ change: @Sendable (inout {BlogEntry}) -> Void
                ) async throws(RepositoryError) -> Reading<{BlogEntry}> {
                    do {
                        return try await repository.update(id, change)
                    } catch {
                        throw error.repositoryError
                    }
                }

                /// Deletes {a blog entry}.
                ///
                /// - Throws: A `RepositoryError` if the deletion was not accepted.
                public func delete(_ id: {BlogEntry}.ID) async throws(RepositoryError) {
                    do {
                        try await repository.delete(id)
                    } catch {
                        throw error.repositoryError
                    }
                }
            }

            extension Endpoint<{BlogEntry}> {
                /// The {blog entries} of an upstream that serves JSON.
                ///
                /// The path of the list is `{blogEntries}`. An entity has a path such as `{blogEntries}/7`.
                ///
                /// A write is refused if its entity was changed elsewhere in the meantime.
                public static let {blogEntries} = Self(
                    {BlogEntry}DTO.self,
                    at: "{blogEntries}",
                    creation: Creation(
                        {BlogEntry}DraftDTO.self,
                        answer: {BlogEntry}DTO.self
                    ) { draft, number in
                        // A negative identifier until the upstream assigns one.
                        try? {BlogEntry}(id: .init(-1 - number), {BlogEntry}Draft(text: draft.text))
                    },
                    editing: Editing(.patch, onConflict: .ask)
                )
            }
            """#
    )

    static let upstreamRepositoryTests = Self(
        "Upstream{BlogEntry}RepositoryTests",
        in: .tests(.adapters),
        imports: [
            "import {Entities}", "import {InterfaceAdapters}", "import InwardCore", "import InwardFetching",
            "import InwardRepositories", "import InwardTesting", "import Testing",
        ],
        importsFoundation: true,
        text: #"""
            struct Upstream{BlogEntry}RepositoryTests {
                private func makeRepository(_ dataFetcher: any DataFetcher) throws -> Upstream{BlogEntry}Repository {
                    let baseURL = try #require(URL(string: "http://upstream.test/api"))
                    let upstream = Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
                    return Upstream{BlogEntry}Repository(Repository(.{blogEntries}, upstream: upstream))
                }

                private func makeRepository(answering json: String) throws -> Upstream{BlogEntry}Repository {
                    try makeRepository(StubDataFetcher(DataResponse(body: Data(json.utf8))))
                }

                @Test func recordsBecomeEntitiesAndDamagedRecordsAreReported() async throws {
                    let repository = try makeRepository(
                        answering: """
                            [{"id": 7, "text": "On engines.", "extra": 1}, {"id": 8, "text": " "}, {"text": "x"},
                             {"id": 3, "text": "x"}, {"id": 9, "text": 9}, {"id": 7, "text": "x"}]
                            """
                    )
                    let reading = try await repository.{blogEntries}(.cacheFirst)
                    #expect(reading.value.map(\.id.rawValue) == [7, 3])
                    #expect(reading.value.map(\.text) == ["On engines.", "x"])
                    #expect(reading.origin == .upstream)
                    #expect(
                        reading.rejected.map(\.description) == [
                            "{blogEntries}[1].text breaks a rule: \({BlogEntry}Error.blankText)",
                            "{blogEntries}[2].id is missing",
                            "{blogEntries}[4].text is not a string",
                            "{blogEntries}[5].id is already used at position 0",
                        ]
                    )
                }

                @Test func writesAreSentWithoutAnOutbox() async throws {
                    let source = RecordingDataFetcher(
                        StubDataFetcher(DataResponse(body: Data(#"{"id": 7, "text": "One"}"#.utf8)))
                    )
                    let repository = try makeRepository(source)
                    let created = try await repository.create({BlogEntry}Draft(text: "One"))
                    #expect(created.value.id.rawValue == 7)
                    #expect(!created.isPending)
                    let draft = try {BlogEntry}Draft(text: "Two")
                    _ = try await repository.update(created.value.id) { $0.revise(to: draft) }
                    try await repository.delete(created.value.id)
                    let writes = source.requests.map { "\($0.method) \($0.url.lastPathComponent)" }
                    #expect(writes == ["POST {blogEntries}", "PATCH 7", "DELETE 7"])
                    let bodies = source.requests.map { $0.body.map { String(decoding: $0, as: UTF8.self) } }
                    #expect(bodies == [#"{"text":"One"}"#, #"{"text":"Two"}"#, nil])
                }

                @Test func conflictIsReportedToTheCaller() async throws {
                    let repository = try makeRepository(
                        StubDataFetcher { request throws(FetchError) in
                            let status: DataResponse.Status = request.method == .get ? 200 : 412
                            let json = #"{"id": 7, "text": "Theirs"}"#
                            return DataResponse(status: status, body: Data(json.utf8))
                        }
                    )
                    let draft = try {BlogEntry}Draft(text: "Mine")
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.update(.init(7)) { $0.revise(to: draft) }
                    }
                    #expect(error?.reason == .conflict)
                }

                @Test func unreadableAnswerNamesTheRequest() async throws {
                    let repository = try makeRepository(answering: "{}")
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.{blogEntries}(.cacheFirst)
                    }
                    #expect(error?.reason == .unreadable)
                    #expect(error?.request == "GET http://upstream.test/api/{blogEntries}")
                }

                @Test func upstreamOnlyReadsBypassCaches() async throws {
                    let source = RecordingDataFetcher(StubDataFetcher(failing: .unreachable))
                    let repository = try makeRepository(source)
                    _ = try? await repository.{blogEntries}(.upstreamOnly)
                    _ = try? await repository.{blogEntries}(.cacheFirst)
                    #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", nil])
                }
            }
            """#
    )
}
