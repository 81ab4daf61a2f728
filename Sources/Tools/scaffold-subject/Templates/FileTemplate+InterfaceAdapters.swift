extension FileTemplate {
    static let dto = Self(
        "{BlogEntry}DTO",
        in: .sources(.adapters),
        imports: ["import {Entities}", "import InwardRepositories"],
        text: #"""
            /// {A blog entry} as the upstream writes it.
            struct {BlogEntry}DTO: RecordDTO {
                static let listName = "{blogEntries}"

                let id: FieldDTO<Int>
                let text: FieldDTO<String>

                init(_ {blogEntry}: {BlogEntry}) {
                    id = FieldDTO({blogEntry}.id.rawValue)
                    text = FieldDTO({blogEntry}.text)
                }

                func entity() throws(FieldError) -> {BlogEntry} {
                    do {
                        return try {BlogEntry}(id: {BlogEntry}.ID(id.value), text: text.value)
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
            """#
    )

    /// The adapter takes a repository instead of creating one, so that it cannot create one per request by mistake.
    static let upstreamRepository = Self(
        "Upstream{BlogEntry}Repository",
        in: .sources(.adapters),
        imports: [
            "public import {Entities}", "public import InwardCore", "public import InwardRepositories",
            "public import {UseCases}",
        ],
        text: #"""
            /// Gets {blog entries} from an upstream and from the session's cache.
            public struct Upstream{BlogEntry}Repository: {BlogEntry}Repository {
                private let repository: Repository<{BlogEntry}>

                /// Wraps the repository of a session, which keeps what the session knows of {blog entries}.
                public init(_ repository: Repository<{BlogEntry}>) {
                    self.repository = repository
                }

                /// Returns all {blog entries} in the upstream's order.
                ///
                /// Damaged records are left out, and the reading names them.
                ///
                /// - Complexity: O(1) if they are in memory, otherwise O(n) in the size of the answer.
                /// - Throws: a `RepositoryError` if the list is not available.
                public func {blogEntries}(
                    _ policy: ReadPolicy
                ) async throws(RepositoryError) -> Reading<[{BlogEntry}]> {
                    try await repository.entities(.all, policy)
                }
            }

            extension Endpoint<{BlogEntry}> {
                /// The {blog entries} of an upstream that has them as JSON, a list at `{blogEntries}`.
                ///
                /// - Parameter lifetimes: How long its answers are fresh, and how long they are kept.
                /// - Returns: the endpoint.
                public static func {blogEntries}(lifetimes: Lifetimes = Lifetimes()) -> Self {
                    Self({BlogEntry}DTO.self, at: "{blogEntries}", lifetimes: lifetimes)
                }
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
                    return Upstream{BlogEntry}Repository(Repository(.{blogEntries}(), upstream: upstream))
                }

                private func makeRepository(answering json: String) throws -> Upstream{BlogEntry}Repository {
                    try makeRepository(StubDataFetcher(DataResponse(body: Data(json.utf8))))
                }

                @Test func recordsBecomeEntitiesAndDamagedOnesAreNamed() async throws {
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
                            "{blogEntries}[4].text is not a text",
                            "{blogEntries}[5].id was used before, at position 0",
                        ]
                    )
                }

                @Test func anAnswerThatIsNotAListNamesTheRequest() async throws {
                    let repository = try makeRepository(answering: "{}")
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.{blogEntries}(.cacheFirst)
                    }
                    #expect(error?.reason == .unreadable)
                    #expect(error?.request == "GET http://upstream.test/api/{blogEntries}")
                }

                @Test func readsOfTheUpstreamAloneBypassCaches() async throws {
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
