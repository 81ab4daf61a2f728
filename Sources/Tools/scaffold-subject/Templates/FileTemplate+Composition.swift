/// Templates for compositions with session, feature, and interaction containers.
extension FileTemplate {
    static let featureContainer = Self(
        "{BlogEntries}Container",
        in: .sources(.composition),
        imports: [
            "import {Entities}", "import {InterfaceAdapters}", "public import InwardCore", "import InwardRepositories",
            "public import InwardScopes", "public import {UseCases}",
        ],
        text: #"""
            /// The {blog entries} of one session.
            ///
            /// It keeps the session's repository, which all interactions share. Open one container when the session opens; closing
            /// the session closes it.
            public struct {BlogEntries}Container: FeatureContainer {
                /// The objects of the container.
                public struct Objects: Sendable {
                    let repository: Repository<{BlogEntry}>
                }

                /// The scope of the {blog entries}, which lies in the session's.
                public let scope: Scope<FeatureLifetime, Objects>
                private let user: UserContainer

                /// Creates the repository of {blog entries} for a session.
                ///
                /// - Throws: a `ScopeError` if the session is closed.
                public init(in user: UserContainer) async throws(ScopeError) {
                    self.user = user
                    let name = "{blog entries}"
                    scope = try await FeatureScope.open(name, in: user.scope) { opening, _ throws(ScopeError) in
                        let (app, session) = (try user.app.scope.objects(), try user.scope.objects())
                        opening.errorHandler = app.errorHandler
                        let repository = Repository(
                            .{blogEntries}(lifetimes: app.configuration.lifetimes),
                            upstream: Upstream(
                                baseURL: session.upstream.baseURL,
                                // Requests of the repository do not outlive the session.
                                dataFetcher: ScopedDataFetcher(scope: user.scope, deadline: nil) { session in
                                    session.upstream.dataFetcher
                                }
                            ),
                            memory: app.configuration.memoryLimit,
                            store: app.recordStore.flatMap { records in
                                session.session.place(
                                    in: records,
                                    of: session.upstream.baseURL,
                                    tellingFailuresTo: app.errorHandler
                                )
                            },
                            timer: app.timer
                        )
                        return Objects(repository: opening.closing(repository, as: "repository") { await $0.close() })
                    }
                }

                private typealias FeatureScope = Scope<FeatureLifetime, Objects>

                /// Opens an interaction that looks at the {blog entries} once.
                ///
                /// - Throws: a `ScopeError` if the container is closed.
                public func makeInteraction(
                    id: InteractionID?,
                    within limit: Duration?
                ) throws(ScopeError) -> {BlogEntries}Interaction {
                    {BlogEntries}Interaction(
                        scope: try user.openInteraction(in: scope, id: id, within: limit),
                        repository: Upstream{BlogEntry}Repository(try scope.objects().repository)
                    )
                }
            }

            /// One look at the {blog entries}.
            public struct {BlogEntries}Interaction: InteractionContainer {
                /// The scope of the interaction.
                public let scope: Scope<InteractionLifetime, Interaction>
                let repository: Upstream{BlogEntry}Repository

                /// The use case that lists all {blog entries}.
                ///
                /// - Throws: a `ScopeError` if the interaction is closed.
                public var list{BlogEntries}: List{BlogEntries} {
                    get throws(ScopeError) {
                        _ = try scope.objects()
                        return List{BlogEntries}({blogEntries}: repository)
                    }
                }
            }
            """#
    )

    static let featureContainerTests = Self(
        "{BlogEntries}ContainerTests",
        in: .tests(.composition),
        imports: [
            "import {Composition}", "import {Entities}", "import Foundation", "import InwardCore",
            "import InwardFetching", "import InwardScopes", "import InwardTesting", "import Testing",
            "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntries}ContainerTests {
                private let source = RecordingDataFetcher(
                    StubDataFetcher(
                        DataResponse(body: Data(#"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#.utf8))
                    )
                )

                private func makeApp() async throws -> AppContainer {
                    try await AppContainer(AppConfiguration(upstream: "http://upstream.test/api"), dataFetcher: source)
                }

                @Test func aRequestGoesThroughAllRings() async throws {
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
                    // Another session has a repository of its own.
                    let other = try await {BlogEntries}Container(in: UserContainer(.guest, in: app))
                    _ = try await other.withInteraction { try await $0.list{BlogEntries}() }
                    #expect(source.requests.count == 2)
                }

                @Test func closingTheSessionClosesTheRepository() async throws {
                    let user = try await UserContainer(.guest, in: makeApp())
                    let container = try await {BlogEntries}Container(in: user)
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

/// Templates for compositions without such containers.
extension FileTemplate {
    static let container = Self(
        "{BlogEntries}Container",
        in: .sources(.composition),
        imports: [
            "import {Entities}", "import {InterfaceAdapters}", "public import InwardCore",
            "public import InwardRepositories", "public import {UseCases}",
        ],
        text: #"""
            /// The {blog entries} of one session.
            ///
            /// It keeps the session's repository, which all use cases share. Create one container when the session begins, over the
            /// upstream with the session's credentials, and close it when the session ends. In a scope of `InwardScopes`:
            ///
            ///     let container = {BlogEntries}Container(upstream: upstream)
            ///     opening.closing(container, as: "{blogEntries}") { await $0.close() }
            public struct {BlogEntries}Container: Sendable {
                private let repository: Repository<{BlogEntry}>

                /// Creates the repository of {blog entries} for a session.
                ///
                /// - Parameters:
                ///   - upstream: The upstream with the session's credentials.
                ///   - lifetimes: How long its answers are fresh, and how long they are kept.
                ///   - store: Where answers are kept beyond the life of the process; `nil` to keep them in memory only.
                ///   - timer: The time that lifetimes are measured by.
                public init(
                    upstream: Upstream,
                    lifetimes: Lifetimes = Lifetimes(),
                    store: RepositoryStore? = nil,
                    timer: TimerService = .continuous
                ) {
                    repository = Repository(
                        .{blogEntries}(lifetimes: lifetimes),
                        upstream: upstream,
                        store: store,
                        timer: timer
                    )
                }

                /// The use case that lists all {blog entries}.
                public var list{BlogEntries}: List{BlogEntries} {
                    List{BlogEntries}({blogEntries}: Upstream{BlogEntry}Repository(repository))
                }

                /// Ends requests in flight. Later requests fail.
                public func close() async {
                    await repository.close()
                }
            }
            """#
    )

    static let containerTests = Self(
        "{BlogEntries}ContainerTests",
        in: .tests(.composition),
        imports: [
            "import {Composition}", "import {Entities}", "import Foundation", "import InwardCore",
            "import InwardFetching", "import InwardRepositories", "import InwardTesting", "import Testing",
            "import {UseCases}",
        ],
        text: #"""
            struct {BlogEntries}ContainerTests {
                private let source = RecordingDataFetcher(
                    StubDataFetcher(
                        DataResponse(body: Data(#"[{"id": 1, "text": "Two"}, {"id": 2, "text": "One"}]"#.utf8))
                    )
                )

                private func makeContainer() throws -> {BlogEntries}Container {
                    let baseURL = try #require(URL(string: "http://upstream.test/api"))
                    return {BlogEntries}Container(upstream: Upstream(baseURL: baseURL, dataFetcher: source))
                }

                @Test func aRequestGoesThroughAllRings() async throws {
                    let reading = try await makeContainer().list{BlogEntries}()
                    #expect(reading.value.map(\.text) == ["One", "Two"])
                    #expect(source.requests.map(\.description) == ["GET http://upstream.test/api/{blogEntries}"])
                }

                @Test func twoInteractionsCauseOneRequest() async throws {
                    let container = try makeContainer()
                    let first = try await container.list{BlogEntries}()
                    let second = try await container.list{BlogEntries}()
                    #expect(source.requests.count == 1)
                    #expect(first.origin == .upstream)
                    #expect(second.origin == .memory)
                    #expect(second.value == first.value)
                    // Another session has a repository of its own.
                    _ = try await makeContainer().list{BlogEntries}()
                    #expect(source.requests.count == 2)
                }

                @Test func closingTheContainerClosesTheRepository() async throws {
                    let container = try makeContainer()
                    await container.close()
                    let list{BlogEntries} = container.list{BlogEntries}
                    await #expect(throws: List{BlogEntries}Error.self) { try await list{BlogEntries}() }
                    #expect(source.requests.isEmpty)
                }
            }
            """#
    )
}
