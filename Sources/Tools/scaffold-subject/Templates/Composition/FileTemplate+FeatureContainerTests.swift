extension FileTemplate {
    static let featureContainerTests = Self(
        "Tests/Rings/CompositionTests/{BlogEntries}/{BlogEntries}ContainerTests.swift",
        imports: [
            "import Composition", "import Entities", "import Foundation", "import InwardCore", "import InwardFetching",
            "import InwardScopes", "import InwardTesting", "import Testing", "import UseCases",
        ],
        text: #"""
            struct {BlogEntries}ContainerTests {
                private let source = RecordingDataFetcher(
                    StubDataFetcher(
                        DataResponse(body: Data(#"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#.utf8))
                    )
                )

                @Test func theyGoThroughAllRings() async throws {
                    let configuration = try AppConfiguration(upstream: "http://upstream.test/api")
                    let user = try await UserContainer(.guest, in: AppContainer(configuration, dataFetcher: source))
                    let interaction = try {BlogEntries}Container(in: user).makeInteraction()
                    #expect(try await interaction.list{BlogEntries}().value.map(\.text) == ["One", "Two"])
                    #expect(source.requests.map(\.description) == ["GET http://upstream.test/api/{blogEntries}"])
                }

                @Test func behindTheCloseThereAreNone() async throws {
                    let user = try await UserContainer(.guest, in: AppContainer(dataFetcher: source))
                    let interaction = try {BlogEntries}Container(in: user).makeInteraction()
                    let list{BlogEntries} = try interaction.list{BlogEntries}
                    try await user.close()
                    await #expect(throws: List{BlogEntries}Error.self) { try await list{BlogEntries}() }
                    #expect(source.requests.isEmpty)
                }
            }
            """#
    )
}
