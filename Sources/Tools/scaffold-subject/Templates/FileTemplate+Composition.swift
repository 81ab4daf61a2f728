/// Templates for compositions with this package's containers.
extension FileTemplate {
    static let featureContainer = Self(
        "{BlogEntries}Container",
        in: .sources(.composition),
        imports: [
            "import {InterfaceAdapters}", "public import InwardCore", "public import InwardScopes",
            "public import {UseCases}",
        ],
        text: #"""
            /// A container for the {blog entries} of a user's session.
            ///
            /// All interactions share the session's repository. Pass its endpoint to the app, so that pending writes are
            /// delivered after a restart:
            ///
            /// ```swift
            /// let app = try await AppContainer(endpoints: [AnyEndpoint(.{blogEntries})])
            /// let user = try await UserContainer(.guest, in: app)
            /// let container = try {BlogEntries}Container(in: user)
            /// try await container.withInteraction { try await $0.edit{BlogEntries}.create("On engines.") }
            /// ```
            public struct {BlogEntries}Container: FeatureContainer {
                /// The objects of the container.
                public struct Objects: Sendable {
                    let {blogEntries}: Upstream{BlogEntry}Repository
                }

                /// The scope of the container.
                public let scope: Scope<FeatureLifetime, Objects>
                private let user: UserContainer

                /// Creates the container in a user's session.
                ///
                /// - Throws: A `RepositoryError` if the session is closed, or if the app does not have the endpoint.
                public init(in user: UserContainer) throws(RepositoryError) {
                    self.user = user
                    scope = try user.openFeature(over: .{blogEntries}) { repository in
                        Objects({blogEntries}: Upstream{BlogEntry}Repository(repository))
                    }
                }

                /// Opens an interaction that reads or writes {blog entries}.
                ///
                /// - Throws: A `ScopeError` if the container is closed.
                public func makeInteraction(
                    id: InteractionID?,
                    within limit: Duration?
                ) throws(ScopeError) -> {BlogEntries}Interaction {
                    {BlogEntries}Interaction(
                        scope: try user.openInteraction(in: scope, id: id, within: limit),
                        {blogEntries}: try scope.objects().{blogEntries}
                    )
                }
            }

            /// An interaction that reads or writes {blog entries}.
            public struct {BlogEntries}Interaction: InteractionContainer {
                /// The scope of the interaction.
                public let scope: Scope<InteractionLifetime, Interaction>
                let {blogEntries}: Upstream{BlogEntry}Repository

                /// Lists all {blog entries}.
                ///
                /// - Throws: A `ScopeError` if the interaction is closed.
                public var list{BlogEntries}: List{BlogEntries} {
                    get throws(ScopeError) {
                        _ = try scope.objects()
                        return List{BlogEntries}({blogEntries}: {blogEntries})
                    }
                }

                /// Creates, changes and deletes {blog entries}.
                ///
                /// - Throws: A `ScopeError` if the interaction is closed.
                public var edit{BlogEntries}: Edit{BlogEntries} {
                    get throws(ScopeError) {
                        _ = try scope.objects()
                        return Edit{BlogEntries}({blogEntries}: {blogEntries})
                    }
                }
            }
            """#
    )

    static let featureContainerTests = Self(
        "{BlogEntries}ContainerTests",
        in: .tests(.composition),
        imports: [
            "import {Composition}", "import {Entities}", "import Foundation", "import {InterfaceAdapters}",
            "import InwardCore", "import InwardFetching", "import InwardRepositories", "import InwardScopes",
            "import InwardTesting", "import Testing", "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntries}ContainerTests {
                private let source = RecordingDataFetcher(
                    StubDataFetcher { request throws(FetchError) in
                        let json =
                            switch request.method {
                            case .post: #"{"id": 3, "text": "New"}"#
                            case .patch: #"{"id": 3, "text": "Newer"}"#
                            default: #"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#
                            }
                        return DataResponse(body: Data(json.utf8))
                    }
                )

                private func makeApp(
                    store: (any RecordStore)? = nil,
                    endpoints: [AnyEndpoint] = [AnyEndpoint(.{blogEntries})]
                ) async throws -> AppContainer {
                    try await AppContainer(
                        AppConfiguration(upstream: "http://upstream.test/api"),
                        dataFetcher: source,
                        recordStore: store,
                        endpoints: endpoints
                    )
                }

                @Test func requestPassesThroughAllRings() async throws {
                    let container = try await {BlogEntries}Container(in: UserContainer(.guest, in: makeApp()))
                    let reading = try await container.withInteraction { try await $0.list{BlogEntries}() }
                    #expect(reading.value.map(\.text) == ["One", "Two"])
                    #expect(source.requests.map(\.description) == ["GET http://upstream.test/api/{blogEntries}"])
                }

                @Test func twoInteractionsCauseOneRequest() async throws {
                    let app = try await makeApp()
                    let container = try await {BlogEntries}Container(in: UserContainer(.guest, in: app))
                    let first = try await container.withInteraction { try await $0.list{BlogEntries}() }
                    let second = try await container.withInteraction { try await $0.list{BlogEntries}() }
                    #expect(source.requests.count == 1)
                    #expect(first.origin == .upstream)
                    #expect(second.origin == .memory)
                    #expect(second.value == first.value)
                    // Another session has its own repository.
                    let other = try await {BlogEntries}Container(in: UserContainer(.guest, in: app))
                    _ = try await other.withInteraction { try await $0.list{BlogEntries}() }
                    #expect(source.requests.count == 2)
                }

                @Test func writesAreAcceptedImmediatelyAndDeliveredInOrder() async throws {
                    let user = try await UserContainer(.guest, in: makeApp(store: InMemoryRecordStore()))
                    let container = try {BlogEntries}Container(in: user)
                    let created = try await container.withInteraction { interaction in
                        let created = try await interaction.edit{BlogEntries}.create("New")
                        try await interaction.edit{BlogEntries}.change(created.value.id, to: "Newer")
                        return created
                    }
                    #expect(created.isPending)
                    _ = try await user.deliver()
                    try await container.withInteraction { try await $0.edit{BlogEntries}.delete(.init(3)) }
                    _ = try await user.deliver()
                    let writes = source.requests.map { "\($0.method) \($0.url.lastPathComponent)" }
                    #expect(writes == ["POST {blogEntries}", "PATCH 3", "DELETE 3"])
                }

                @Test func writesRequireTheEndpointInTheApp() async throws {
                    let app = try await makeApp(store: InMemoryRecordStore(), endpoints: [])
                    let user = try await UserContainer(.guest, in: app)
                    let error = #expect(throws: RepositoryError.self) { try {BlogEntries}Container(in: user) }
                    #expect(error?.reason == .refused)
                }

                @Test func closingTheSessionClosesTheRepository() async throws {
                    let user = try await UserContainer(.guest, in: makeApp())
                    let container = try {BlogEntries}Container(in: user)
                    let list{BlogEntries} = try container.makeInteraction().list{BlogEntries}
                    try await user.close()
                    #expect(!container.isOpen)
                    await #expect(throws: List{BlogEntries}Error.self) { try await list{BlogEntries}() }
                    #expect(source.requests.isEmpty)
                }
            }
            """#
    )
}

/// Templates for compositions over the app and session scopes of InwardScopes.
extension FileTemplate {
    static let container = Self(
        "{BlogEntries}Container",
        in: .sources(.composition),
        imports: [
            "import {InterfaceAdapters}", "public import InwardCore", "public import InwardScopes",
            "public import {UseCases}",
        ],
        text: #"""
            /// A container for the {blog entries} of a session.
            ///
            /// The use cases share the session's repository, which lives as long as the session. Pass its endpoint to the app,
            /// so that pending writes are delivered after a restart:
            ///
            /// ```swift
            /// let endpoints = [AnyEndpoint(.{blogEntries})]
            /// let app = await AppScope("app", AppScopeConfiguration(upstream, store: store, endpoints: endpoints))
            /// let session = try await app.signIn(as: "ada")
            /// let container = try {BlogEntries}Container(in: session)
            /// try await container.edit{BlogEntries}.create("On engines.")
            /// ```
            public struct {BlogEntries}Container: Sendable {
                /// Lists all {blog entries}.
                public let list{BlogEntries}: List{BlogEntries}
                /// Creates, changes and deletes {blog entries}.
                public let edit{BlogEntries}: Edit{BlogEntries}

                /// Creates the use cases of a session.
                ///
                /// - Throws: A `RepositoryError` if the session is closed, or if the app does not have the endpoint.
                public init(in session: SessionScope<some Sendable>) throws(RepositoryError) {
                    let repository = Upstream{BlogEntry}Repository(try session.repository(.{blogEntries}))
                    list{BlogEntries} = List{BlogEntries}({blogEntries}: repository)
                    edit{BlogEntries} = Edit{BlogEntries}({blogEntries}: repository)
                }
            }
            """#
    )

    static let containerTests = Self(
        "{BlogEntries}ContainerTests",
        in: .tests(.composition),
        imports: [
            "import {Composition}", "import {Entities}", "import Foundation", "import {InterfaceAdapters}",
            "import InwardCore", "import InwardFetching", "import InwardRepositories", "import InwardScopes",
            "import InwardTesting", "import Testing", "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntries}ContainerTests {
                private let source = RecordingDataFetcher(
                    StubDataFetcher { request throws(FetchError) in
                        let json =
                            switch request.method {
                            case .post: #"{"id": 3, "text": "New"}"#
                            case .patch: #"{"id": 3, "text": "Newer"}"#
                            default: #"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#
                            }
                        return DataResponse(body: Data(json.utf8))
                    }
                )

                private func makeApp(
                    store: (any RecordStore)? = nil,
                    endpoints: [AnyEndpoint] = [AnyEndpoint(.{blogEntries})]
                ) async throws -> AppScope<Void> {
                    let baseURL = try #require(URL(string: "http://upstream.test/api"))
                    let upstream = Upstream(baseURL: baseURL, dataFetcher: source)
                    return await AppScope(
                        "app",
                        AppScopeConfiguration(upstream, store: store, endpoints: endpoints)
                    )
                }

                @Test func requestPassesThroughAllRings() async throws {
                    let container = try await {BlogEntries}Container(in: makeApp().signIn(as: "ada"))
                    let reading = try await container.list{BlogEntries}()
                    #expect(reading.value.map(\.text) == ["One", "Two"])
                    #expect(source.requests.map(\.description) == ["GET http://upstream.test/api/{blogEntries}"])
                }

                @Test func twoReadsCauseOneRequest() async throws {
                    let app = try await makeApp()
                    let container = try await {BlogEntries}Container(in: app.signIn(as: "ada"))
                    let first = try await container.list{BlogEntries}()
                    let second = try await container.list{BlogEntries}()
                    #expect(source.requests.count == 1)
                    #expect(first.origin == .upstream)
                    #expect(second.origin == .memory)
                    #expect(second.value == first.value)
                    // Another session has its own repository.
                    let other = try await {BlogEntries}Container(in: app.signIn(as: "bob"))
                    _ = try await other.list{BlogEntries}()
                    #expect(source.requests.count == 2)
                }

                @Test func writesAreAcceptedImmediatelyAndDeliveredInOrder() async throws {
                    let session = try await makeApp(store: InMemoryRecordStore()).signIn(as: "ada")
                    let container = try {BlogEntries}Container(in: session)
                    let created = try await container.edit{BlogEntries}.create("New")
                    #expect(created.isPending)
                    try await container.edit{BlogEntries}.change(created.value.id, to: "Newer")
                    #expect(try await session.deliver(within: .seconds(30)) == 0)
                    try await container.edit{BlogEntries}.delete(.init(3))
                    #expect(try await session.deliver(within: .seconds(30)) == 0)
                    let writes = source.requests.map { "\($0.method) \($0.url.lastPathComponent)" }
                    #expect(writes == ["POST {blogEntries}", "PATCH 3", "DELETE 3"])
                }

                @Test func writesRequireTheEndpointInTheApp() async throws {
                    let app = try await makeApp(store: InMemoryRecordStore(), endpoints: [])
                    let session = try await app.signIn(as: "ada")
                    let error = #expect(throws: RepositoryError.self) { try {BlogEntries}Container(in: session) }
                    #expect(error?.reason == .refused)
                }

                @Test func closingTheSessionClosesTheRepository() async throws {
                    let session = try await makeApp().signIn(as: "ada")
                    let list = try {BlogEntries}Container(in: session).list{BlogEntries}
                    try await session.close()
                    await #expect(throws: List{BlogEntries}Error.self) { try await list() }
                    #expect(source.requests.isEmpty)
                }
            }
            """#
    )
}
