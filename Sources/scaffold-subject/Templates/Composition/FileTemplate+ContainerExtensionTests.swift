extension FileTemplate {
    static let containerExtensionTests = Self(
        "Tests/CompositionTests/{BlogEntries}/AppContainer{BlogEntries}Tests.swift",
        imports: [
            "import Composition", "import Entities", "import Foundation", "import InterfaceAdapters",
            "import InwardTesting", "import Testing", "import UseCases",
        ],
        text: #"""
            struct AppContainer{BlogEntries}Tests {
                @Test func theyGoThroughAllRings() async throws {
                    let list = Data(#"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#.utf8)
                    let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: list)))
                    let configuration = try AppConfiguration(upstream: "http://upstream.test/api")
                    let container = AppContainer(configuration, dataFetcher: source)
                    #expect(try await container.list{BlogEntries}().value.map(\.text) == ["One", "Two"])
                    #expect(source.requests.map(\.description) == ["GET http://upstream.test/api/{blogEntries}"])
                }
            }
            """#
    )
}
