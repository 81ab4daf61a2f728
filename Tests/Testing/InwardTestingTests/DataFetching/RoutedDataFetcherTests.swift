import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RoutedDataFetcherTests {
    private struct Comment: Codable, Hashable {
        var id = 7
        var body = "Well said."
    }

    private let upstream = RoutedDataFetcher()

    private func fetch(
        _ path: String,
        by method: DataRequest.Method = .get,
        body: String? = nil
    ) async throws -> DataResponse {
        let body = body.map { Data($0.utf8) }
        return try await upstream.fetch(.example("http://upstream.test\(path)", method: method, body: body))
    }

    /// Returns the response body for a path as text.
    private func text(_ path: String) async throws -> String {
        String(decoding: try await fetch(path).body, as: UTF8.self)
    }

    private func failure(_ path: String, by method: DataRequest.Method = .get) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetch(path, by: method) }
    }

    // MARK: Routes

    @Test(
        arguments: [
            ("/posts/:post/comments", "/posts/7/comments", ["post": "7"]),
            ("/posts/:post/comments/:id", "/posts/7/comments/8", ["post": "7", "id": "8"]),
            ("/posts", "/posts", [:]), ("posts", "/posts", [:]), ("/", "/", [:]), ("/", "", [:]),
            ("/posts/", "/posts/", [:]), ("/posts", "/posts?page=2", [:]),
            ("/labels/:name", "/labels/a%2Fb%20c", ["name": "a/b c"]), ("/labels/a b", "/labels/a%20b", [:]),
            ("/comments?postId=7", "/comments?_page=2&postId=7", [:]),
            ("/comments?postId=:post&_page=2", "/comments?_page=2&postId=a%20b", ["post": "a b"]),
            ("/comments?all", "/comments?all", [:]),
        ] as [(String, String, [String: String])]
    )
    func patternMatchesItsURLs(pattern: String, path: String, parameters: [String: String]) async throws {
        upstream.on(.get, pattern) { .json("\($0.parameters.sorted(by: <))") }
        #expect(try await text(path) == "\(parameters.sorted(by: <))")
        #expect(upstream.requests(.get, pattern).map(\.parameters) == [parameters])
    }

    @Test(arguments: [
        ("/posts/:post", "/posts"), ("/posts/:post", "/posts/"), ("/posts/:post", "/posts/7/comments"),
        ("/posts", "/posts/"), ("/posts", "/post"), ("/posts/7", "/posts/8"), ("/:id", "/"),
        ("/comments?postId=7", "/comments"), ("/comments?postId=7", "/comments?postId=8"),
        ("/comments?postId=:post", "/comments?postId="), ("/comments?postId=7&_page=2", "/comments?postId=7"),
    ])
    func patternDoesNotMatchOtherURLs(pattern: String, path: String) async {
        upstream.on(.get, pattern, .status(.ok))
        #expect(await failure(path)?.reason == .invalidRequest)
        #expect(upstream.requests(.get, pattern).isEmpty)
    }

    @Test func requestWithoutARouteFailsAndListsTheRoutes() async {
        #expect(await failure("/posts")?.explanation == "has no route: add one with `on`")
        upstream.on(.get, "/posts/:id", .json("{}")).on(.put, "/posts/:id?draft=:draft", .status(204))
        let error = await failure("/posts/7", by: .delete)
        #expect(error?.reason == .invalidRequest && error?.wasSent == false && error?.canRetry == false)
        #expect(
            error?.description == """
                DELETE http://upstream.test/posts/7 has no route: the routes are GET /posts/:id, PUT /posts/:id?draft=:draft
                """
        )
        #expect(upstream.requests.map(\.method) == [.get, .delete])
    }

    @Test func latestMatchingRouteAnswers() async throws {
        upstream.on(.get, "/posts/:id", .json("any")).on(.get, "/posts/7", .json("seven"))
        #expect(try await text("/posts/7") == "seven")
        #expect(try await text("/posts/8") == "any")
        upstream.on(.get, "/posts/:id", .json("another"))
        #expect(try await text("/posts/7") == "another")
    }

    // MARK: Answers

    @Test func answersAreUsedInOrderAndTheLastIsRepeated() async throws {
        upstream.on(.get, "/posts/7", .failure(.interrupted), .status(503), .json("{}"))
        #expect(await failure("/posts/7")?.reason == .interrupted)
        #expect(try await fetch("/posts/7").status == 503)
        for _ in 0..<2 { #expect(try await fetch("/posts/7") == DataResponse.json("{}")) }
    }

    @Test func fixtureIsJSONByDefault() throws {
        let fixture: FetchFixture = try .encoding(Comment(), status: .created, headerFields: [HeaderField(.etag, "1")])
        guard case .answer(let response) = fixture else { return #expect(Bool(false), "It fails.") }
        #expect(response.status == .created && response.headerFields[.etag] == "1")
        #expect(response.headerFields[.contentType] == "application/json")
        #expect(try JSONDecoder().decode(Comment.self, from: response.body) == Comment())
        let problem = HeaderField(.contentType, "application/problem+json")
        #expect(
            FetchFixture.json("{}", status: .notFound, headerFields: [problem])
                == .answer(DataResponse(status: .notFound, headerFields: [problem], body: Data("{}".utf8)))
        )
        #expect(FetchFixture.status(204) == .answer(DataResponse(status: 204)))
        #expect(throws: EncodingError.self) { try FetchFixture.encoding(Double.nan) }
    }

    @Test func handlerSeesTheParametersTheQueryAndTheBody() async throws {
        upstream.on(.put, "/posts/:post/comments/:id") { request throws(FetchError) in
            var comment = try request.decoded(Comment.self)
            comment.id = request["id"] ?? 0
            let none: Int? = request["nothing"] ?? request["post"]
            return .json("\(comment.id) \(comment.body) \(request.query("dry") ?? "") \(none ?? -1)")
        }
        let path = "/posts/x/comments/8?dry=a%20b&dry=c"
        let response = try await fetch(path, by: .put, body: #"{"id": 0, "body": "Very well said."}"#)
        #expect(String(decoding: response.body, as: UTF8.self) == "8 Very well said. a b -1")
        for body in [nil, "{}"] {
            let error = await #expect(throws: FetchError.self) { try await fetch(path, by: .put, body: body) }
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.hasPrefix("has a body that is not a Comment: ") == true)
        }
        #expect(upstream.requests(.put, "/posts/x/comments/:id").map { $0["id"] } == [8, 8, 8])
    }

    @Test func requestsAreNotRecordedWhileOffline() async throws {
        upstream.on(.get, "/posts", .status(503), .status(.ok))
        upstream.goOffline()
        let error = await failure("/posts")
        #expect(error?.reason == .unreachable && error?.wasSent == false)
        #expect(upstream.requests.isEmpty)
        upstream.goOffline(false)
        #expect(try await fetch("/posts").status == 503)
    }

    @Test func cancelledRequestGetsAndConsumesNoAnswer() async throws {
        upstream.on(.get, "/posts", .status(503), .status(.ok))
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                let error = await failure("/posts")
                #expect(error?.reason == .cancelled)
            }
        }
        #expect(upstream.requests.isEmpty)
        #expect(try await fetch("/posts").status == 503)
    }

    // MARK: Use with other libraries

    @Test func routedDataFetcherConforms() async throws {
        let counter = Mutex(0)
        let large = String(repeating: "large", count: 250_000)
        let json: FetchFixture = .json("[]")
        upstream.on(.get, "/posts", json).on(.head, "/posts", .status(.ok, headerFields: .json))
            .on(.get, "/posts?_page=2", .json(large))
            .on(.post, "/posts") { .json(String(decoding: $0.request.body ?? Data(), as: UTF8.self)) }
            .on(.delete, "/posts", .status(.methodNotAllowed, headerFields: .allow))
            .on(.get, "/broken", .status(503)).on(.get, "/lost", .failure(.interrupted))
            .on(.get, "/count") { _ in
                .json(
                    counter.withLock { count in
                        count += 1
                        return "\(count)"
                    }
                )
            }
            .on(.get, "/silence") { request throws(FetchError) in
                _ = await Promise<Void>().value()
                throw FetchError(.cancelled, request: request.request, explanation: "was cancelled")
            }
        func exchange(
            _ method: DataRequest.Method,
            _ path: String,
            _ body: String? = nil,
            _ text: String = "[]",
            _ status: DataResponse.Status = .ok,
            _ fields: HeaderFields = .json
        ) throws -> DataFetcherExchange {
            DataFetcherExchange(
                try .example("http://upstream.test\(path)", method: method, body: body.map { Data($0.utf8) }),
                DataResponse(status: status, headerFields: fields, body: Data(text.utf8))
            )
        }
        let exchanges = try [
            exchange(.get, "/posts"), exchange(.get, "/posts?_page=2", nil, large),
            exchange(.post, "/posts", "one", "one"), exchange(.post, "/posts", "two", "two"),
            exchange(.post, "/posts", large, large), exchange(.get, "/broken", nil, "", 503, []),
            exchange(.delete, "/posts", nil, "", .methodNotAllowed, .allow),
            DataFetcherExchange(.example("http://upstream.test/lost"), failing: .interrupted),
        ]
        let conformance = DataFetcherConformance(
            exchanges: exchanges,
            unanswered: try .example("http://upstream.test/silence"),
            counting: try .example("http://upstream.test/count"),
            impossible: [try .example("http://upstream.test/elsewhere")],
            lacking: [.unfinished, .requestField, .repeatedRequestField]
        )
        try await conformance.check(upstream)
    }

    @Test func retryGetsTheNextAnswer() async throws {
        upstream.on(.get, "/posts/7", .status(503), .json("{}"))
        let timer = TimerService(ManualClock())
        let policy = RetryPolicy(baseDelay: .zero, budget: RetryBudget(timer: timer))
        let request = try DataRequest.example("http://upstream.test/posts/7")
        #expect(try await upstream.retrying(policy, timer: timer).fetch(request).status == .ok)
        #expect(upstream.requests.map(\.attempt) == [1, 2])
    }
}

extension DataResponse {
    fileprivate static func json(_ text: String) -> DataResponse {
        DataResponse(headerFields: .json, body: Data(text.utf8))
    }
}

extension HeaderFields {
    fileprivate static let json: HeaderFields = [HeaderField(.contentType, "application/json")]
    fileprivate static let allow: HeaderFields = [
        HeaderField(.allow, "GET"), HeaderField(.vary, "Accept"), HeaderField(.vary, "Origin"),
    ]
}
