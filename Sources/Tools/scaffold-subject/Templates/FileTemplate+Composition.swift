extension FileTemplate {
    static let featureContainer = Self(
        "Sources/Rings/Composition/{BlogEntries}/{BlogEntries}Container.swift",
        imports: ["public import InwardScopes"],
        text: #"""
            /// The {blog entries}, for somebody who is looking at them.
            public struct {BlogEntries}Container: FeatureContainer {
                /// What a container of the {blog entries} holds: nothing of its own.
                public struct Objects: Sendable {}

                /// The scope of the {blog entries}.
                public let scope: Scope<FeatureLifetime, Objects>
                private let user: UserContainer

                /// Begins to look at {blog entries}.
                ///
                /// - Throws: a `ScopeError` if the user's session is closed.
                public init(in user: UserContainer) throws(ScopeError) {
                    self.user = user
                    scope = try Scope("{blog entries}", in: user.scope, objects: Objects())
                }

                /// Opens an interaction that looks at the {blog entries} once.
                ///
                /// - Throws: a `ScopeError` if the container is closed.
                public func makeInteraction(
                    id: InteractionID?,
                    within limit: Duration?
                ) throws(ScopeError) -> {BlogEntries}Interaction {
                    {BlogEntries}Interaction(scope: try user.openInteraction(in: scope, id: id, within: limit))
                }
            }
            """#
    )
}

extension FileTemplate {
    static let interactionContainer = Self(
        "Sources/Rings/Composition/{BlogEntries}/{BlogEntries}Interaction.swift",
        imports: ["import InterfaceAdapters", "public import InwardScopes", "public import UseCases"],
        text: #"""
            /// One look at the {blog entries}.
            public struct {BlogEntries}Interaction: InteractionContainer {
                /// The scope of the interaction.
                public let scope: Scope<InteractionLifetime, Interaction>

                /// Lists all {blog entries}.
                ///
                /// - Throws: a `ScopeError` if the interaction is closed.
                public var list{BlogEntries}: List{BlogEntries} {
                    get throws(ScopeError) {
                        let repository = Upstream{BlogEntry}Repository(upstream: try upstream)
                        return List{BlogEntries}({blogEntries}: repository)
                    }
                }
            }
            """#
    )
}

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
