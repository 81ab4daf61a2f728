extension FileTemplate {
    static let upstreamRepositoryTests = Self(
        "Tests/Rings/InterfaceAdaptersTests/{BlogEntries}/Upstream{BlogEntry}RepositoryTests.swift",
        imports: [
            "import Entities", "import InterfaceAdapters", "import InwardCore", "import InwardFetching",
            "import InwardRepositories", "import InwardTesting", "import TestSupport", "import Testing",
            "import UseCasesTesting",
        ],
        text: #"""
            struct Upstream{BlogEntry}RepositoryTests {
                @Test func recordsBecomeWhatTheyDescribeAndDamagedOnesAreNamed() async throws {
                    let upstream = try Upstream.example(
                        answering: """
                            [{"id": 7, "text": " On engines. ", "extra": 1}, {"id": 8, "text": " "}, {"text": "x"},
                             {"id": 3, "text": "x"}, {"id": 9, "text": 9}, {"id": 7, "text": "x"}]
                            """
                    )
                    let repository = Upstream{BlogEntry}Repository(upstream: upstream)
                    let reading = try await repository.{blogEntries}(.nearest)
                    #expect(try reading.value == [.example(7, text: "On engines."), .example(3, text: "x")])
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

                @Test func whatIsNoListIsAnErrorThatSaysWhere() async throws {
                    let repository = Upstream{BlogEntry}Repository(upstream: try .example(answering: "{}"))
                    let error = await #expect(throws: RepositoryError.self) {
                        try await repository.{blogEntries}(.nearest)
                    }
                    #expect(error?.reason == .unreadable)
                    #expect(error?.request == "GET http://upstream.test/api/{blogEntries}")
                }

                @Test func readingFromTheUpstreamItselfTellsCachesSo() async throws {
                    let source = RecordingDataFetcher(StubDataFetcher(failing: .unreachable))
                    let repository = Upstream{BlogEntry}Repository(upstream: try .example(source))
                    _ = try? await repository.{blogEntries}(.upstream)
                    _ = try? await repository.{blogEntries}(.nearest)
                    #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", nil])
                }
            }
            """#
    )
}
