import Foundation
import Testing

/// What the documentation shows of Swift compiles.
@Suite(.enabled(if: Snippet.canBeCompiled))
struct DocumentationTests {
    private static let prelude = """
        import Composition
        import Entities
        import InterfaceAdapters
        import InwardCore
        import InwardFetching
        import InwardImages
        import InwardRepositories
        import InwardScopes
        import InwardTesting
        import InwardTransfers
        import UseCases
        import UseCasesTesting

        """

    /// What articles about data fetchers take for granted.
    private static let fetching =
        prelude + """
            import Foundation
            import Testing

            /// A fetcher of whoever reads the article.
            struct MyDataFetcher: DataFetcher {
                var timer = TimerService.continuous

                func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { DataResponse() }
            }
            let client = MyDataFetcher()
            let stub = StubDataFetcher(DataResponse())
            let request = DataRequest(url: URL(filePath: "/"))
            let credentials = Credentials(.bearer("a token"), for: request.url)
            let cache = ResponseCache(byteLimit: 1_000_000, clock: ContinuousClock())
            let observer = RecordingFetchObserver()
            let upstream = Upstream(baseURL: request.url, dataFetcher: client)
            let conformance = DataFetcherConformance(server: request.url, impossible: request)

            """

    private static let sources = URL(filePath: #filePath).appending(path: "../../../../../Sources").standardized

    @Test(arguments: [("Composition.md", 5), ("Injecting.md", 9)])
    func itsSnippetsCompile(article: String, count: Int) async throws {
        try await check("Rings/Composition/Composition.docc/\(article)", count: count, behind: Self.prelude)
    }

    @Test(arguments: [
        ("Libraries/InwardFetching/InwardFetching.docc/Decorating.md", 9),
        ("Libraries/InwardFetching/InwardFetching.docc/ResilientOperations.md", 2),
        ("Libraries/InwardRepositories/InwardRepositories.docc/GivingEntities.md", 3),
        ("Testing/InwardTesting/InwardTesting.docc/TestingDataFetchers.md", 7),
        ("Testing/InwardTesting/InwardTesting.docc/TestingUseCases.md", 2),
    ])
    func snippetsAboutDataFetchersCompile(article: String, count: Int) async throws {
        try await check(article, count: count, behind: Self.fetching)
    }

    @Test func snippetsAboutImagesCompile() async throws {
        let images =
            Self.prelude + """
                struct MyImageSource: ImageSource {
                    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
                        EncodedImage([])
                    }
                }
                struct MyImageCodec: ImageCodec {
                    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { throw .cancelled }
                    func image(
                        from bytes: [UInt8],
                        _ options: ImageDecodingOptions
                    ) throws(ImageCodecError) -> Image { throw .cancelled }
                    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] { [] }
                }
                let source = MyImageSource()
                let codec = MyImageCodec()

                """
        let loader = "var images = ImageLoader(source: source, codec: codec)\n"
        let article = "Libraries/InwardImages/InwardImages.docc/LoadingImages.md"
        let text = try String(contentsOf: Self.sources.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(snippets.count == 5)
        try await check(snippets.filter { $0.hasPrefix("var images") }, behind: images)
        try await check(snippets.filter { !$0.hasPrefix("var images") }, behind: images + loader)
    }

    @Test func snippetsAboutWritingCompileTogether() async throws {
        let writing =
            Self.prelude + """
                import Foundation

                extension RecordingOutboxHandler {
                    func prepareToPublish(_ draft: String) async throws -> any PreparedChange {
                        PreparedRecordChange("it", for: outbox)
                    }
                    func prepareToRemove(_ id: Int) async throws -> any PreparedChange {
                        PreparedRecordChange("it", for: outbox)
                    }
                }
                let upstream = Upstream(baseURL: URL(filePath: "/"), dataFetcher: StubDataFetcher(DataResponse()))
                let store = InMemoryRecordStore()
                let errorHandler = IgnoringErrorHandler()
                let (posts, notes) = (RecordingOutboxHandler("posts"), RecordingOutboxHandler("notes"))
                let (user, draft, noteID) = ("7", "what a user wrote", 7)
                let json = Array("{}".utf8)

                """
        let article = "Libraries/InwardRepositories/InwardRepositories.docc/WritingThroughAnOutbox.md"
        let text = try String(contentsOf: Self.sources.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(snippets.count == 3)
        #expect(try await Snippet(source: writing + snippets.joined()).errors() == [])
    }

    @Test func snippetsAboutChangingCompileTogether() async throws {
        let article = "Libraries/InwardRepositories/InwardRepositories.docc/ChangingEntities.md"
        let text = try String(contentsOf: Self.sources.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(snippets.count == 4)
        #expect(try await Snippet(source: Self.fetching + snippets.joined()).errors() == [])
    }

    @Test func theSetupOfExchangesCompilesAndIsTheOneOfATest() async throws {
        let article = "Testing/InwardTesting/InwardTesting.docc/InwardTesting.md"
        let text = try String(contentsOf: Self.sources.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let setup = try #require(snippets.first { $0.contains("lacking: [") })
        let names = """
            let (base, large, missing, elsewhere) = (request.url, request.url, request.url, request.url)
            let (list, largeList) = (Data(), Data())
            let fetcher = client

            """
        // The conformance of this article takes the place of the one that others take for granted.
        let fetching = Self.fetching.replacing("let conformance", with: "let other")
        #expect(try await Snippet(source: fetching + names + setup).errors() == [], "\(setup)")
        // That it is complete is known by a test that runs it.
        let test = Self.sources.appending(path: "../Tests/Rings/InfrastructureTests/Files/FileDataFetcherTests.swift")
        let lines = { (source: String) in
            source.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
        }
        #expect(lines(try String(contentsOf: test, encoding: .utf8)).contains(lines(String(setup))))
    }

    private func check(_ article: String, count: Int, behind prelude: String) async throws {
        let text = try String(contentsOf: Self.sources.appending(path: article), encoding: .utf8)
        let snippets = text.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(snippets.count >= count)
        try await check(snippets, behind: prelude)
    }

    /// Checks that each snippet compiles by itself.
    ///
    /// They are compiled together, each in a scope of its own, because the compiler takes longer to begin than for a snippet. Only what
    /// no scope can have, which is an extension, is compiled alone, and so is each of those that do not compile together.
    private func check(_ snippets: [Substring], behind prelude: String) async throws {
        let scoped = snippets.filter { !"\n\($0)".contains("\nextension ") }
        let scopes = scoped.enumerated().map { number, snippet in
            // A test is a member of a suite, if not of a file.
            let scope = "\n\(snippet)".contains("\n@Test") ? "struct Scope\(number)" : "do"
            return "\(scope) {\n\(snippet)\n}\n"
        }
        let together = Snippet(source: prelude + scopes.joined())
        let areScopedRight = try await together.errors() == []
        for snippet in snippets where !areScopedRight || !scoped.contains(snippet) {
            #expect(try await Snippet(source: prelude + snippet).errors() == [], "\(snippet)")
        }
    }
}
