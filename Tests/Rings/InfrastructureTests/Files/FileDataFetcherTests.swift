import Foundation
import Infrastructure
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FileDataFetcherTests {
    private let directory: TemporaryDirectory
    private let users = #"[{"id": 1, "name": "Ada"}, null, {"id": 2, "name": "Bob", "active": true}]"#

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write(users, to: "mirror/users.json")
        try directory.write(#"{"id": 2, "name": "Bob himself"}"#, to: "mirror/users/2.json")
        try directory.write("image", to: "mirror/avatars/7.jpg")
        try directory.write("secret", to: "outside/secret.json")
        try directory.write("secret", to: "secret.json")
    }

    private var mirror: URL { directory.url.appending(path: "mirror", directoryHint: .isDirectory) }

    private func fetch(_ path: String, method: DataRequest.Method = .get, limit: Int = 1_000) async throws
        -> DataResponse
    {
        let url = try #require(URL(string: "http://upstream.test/api\(path)"))
        let base = try #require(URL(string: "http://upstream.test/api/"))
        let fetcher = try FileDataFetcher(directory: mirror, servedAs: base, bodyLimit: limit)
        return try await fetcher.fetch(DataRequest(method: method, url: url))
    }

    private func body(_ path: String) async throws -> String {
        let response = try await fetch(path)
        #expect(response.status == .ok)
        return String(decoding: response.body, as: UTF8.self)
    }

    @Test func fetcherConforms() async throws {
        let list = Data(users.utf8)
        let largeList = Data("[\(String(repeating: "\"0123456789\",", count: 100_000))0]".utf8)
        try directory.write(String(decoding: largeList, as: UTF8.self), to: "mirror/large.json")
        let base = mirror.appending(path: "users")
        let large = mirror.appending(path: "large")
        let image = mirror.appending(path: "avatars/7.jpg")
        let missing = mirror.appending(path: "missing")
        let elsewhere = directory.url.appending(path: "outside/secret")
        let fetcher = try FileDataFetcher(directory: mirror)
        // The documentation of `DataFetcherConformance` quotes the following lines.
        let json = HeaderField(.contentType, "application/json; charset=utf-8")
        let nothing = URLQueryItem(name: "_limit", value: "0")
        let conformance = DataFetcherConformance(
            exchanges: [
                DataFetcherExchange(DataRequest(url: base), DataResponse(headerFields: [json], body: list)),
                DataFetcherExchange(
                    DataRequest(url: base.appending(queryItems: [nothing])),
                    DataResponse(headerFields: [json], body: Data("[]".utf8))
                ),
                DataFetcherExchange(
                    DataRequest(method: .post, url: base),
                    DataResponse(status: .methodNotAllowed, headerFields: [HeaderField(.allow, "GET, HEAD")])
                ),
                // At least 1 MiB.
                DataFetcherExchange(DataRequest(url: large), DataResponse(body: largeList)),
                DataFetcherExchange(DataRequest(url: missing), DataResponse(status: .notFound, body: Data("{}".utf8))),
            ],
            impossible: [DataRequest(url: elsewhere)],
            // A directory answers immediately and always the same, and only the method and the address matter.
            lacking: [
                .serverError, .repeatedHeaderField, .requestBody, .largeRequestBody, .requestField,
                .repeatedRequestField, .failure, .unanswered, .unfinished, .counting,
            ]
        )
        try await conformance.check(fetcher)
        let answer = try await fetcher.fetch(DataRequest(url: image))
        #expect(answer.body == Data("image".utf8))
        #expect(answer.headerFields[.contentType] == "image/jpeg")
        let nobody = try await fetcher.fetch(DataRequest(url: missing))
        #expect(nobody.headerFields[.contentType] == json.value)
    }

    @Test func listIsReadFromTheFileWithItsName() async throws {
        #expect(try await body("/users") == users)
        #expect(try await body("/users.json") == users)
    }

    @Test func recordIsReadFromItsOwnFileOrFromTheList() async throws {
        #expect(try await body("/users/2") == #"{"id": 2, "name": "Bob himself"}"#)
        #expect(try await body("/users/1") == #"{"id":1,"name":"Ada"}"#)
        #expect(try await fetch("/users/3").status == .notFound)
    }

    @Test(arguments: [
        ("?name=Ada", #"[{"id":1,"name":"Ada"}]"#), ("?id=2&name=Bob", #"[{"active":true,"id":2,"name":"Bob"}]"#),
        ("?active=true", #"[{"active":true,"id":2,"name":"Bob"}]"#), ("?id=2&name=Ada", "[]"), ("?nothing=1", "[]"),
        ("?_limit=1", #"[{"id":1,"name":"Ada"}]"#), ("?_start=1&_limit=1", "[null]"), ("?_start=9", "[]"),
        ("?_limit=-1", "[]"),
    ])
    func listCanBeFilteredAndSliced(query: String, expected: String) async throws {
        #expect(try await body("/users\(query)") == expected)
    }

    @Test(arguments: [
        "/../secret", "/../secret.json", "/%2e%2e/secret", "/.%2E/secret", "/avatars/../../secret", "/..%2fsecret",
        "/avatars%2f..%2f..%2fsecret", "/%2e", "/users%00", "/avatars%2F7.jpg", "/..",
    ])
    func pathsThatLeaveTheDirectoryAreNotServed(path: String) async throws {
        let url = try #require(URL(string: "http://upstream.test/api\(path)"))
        let base = try #require(URL(string: "http://upstream.test/api"))
        let fetcher = try FileDataFetcher(directory: mirror, servedAs: base)
        do {
            let response = try await fetcher.fetch(DataRequest(url: url))
            // Foundation may have resolved the path, so that it is outside the base or names no file.
            #expect(response.status == .notFound)
        } catch {
            #expect(error.reason == .invalidRequest)
        }
    }

    @Test(arguments: [
        "http://other.test/api/users", "https://upstream.test/api/users", "http://upstream.test:81/api/users",
        "http://upstream.test/other/users", "http://upstream.test/apiusers",
    ])
    func addressesOutsideTheBaseAreRejected(address: String) async throws {
        let base = try #require(URL(string: "http://upstream.test/api"))
        let fetcher = try FileDataFetcher(directory: mirror, servedAs: base)
        let request = DataRequest(url: try #require(URL(string: address)))
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.reason == .invalidRequest)
    }

    @Test func symbolicLinksAreNotFollowed() async throws {
        try directory.link("mirror/linked.json", to: "../secret.json")
        try directory.link("mirror/inside.json", to: "users.json")
        try directory.link("mirror/outside", to: "../outside")
        for path in ["/linked", "/inside"] {
            let error = await #expect(throws: FetchError.self) { try await fetch(path) }
            #expect(error?.reason == .unreadable)
            #expect(error?.explanation.contains("symbolic link") == true)
        }
        #expect(try await fetch("/outside/secret").status == .notFound)
    }

    @Test func directoryItselfMayBeALink() async throws {
        try directory.link("link", to: "mirror")
        let fetcher = try FileDataFetcher(directory: directory.url.appending(path: "link"))
        let url = directory.url.appending(path: "link/users")
        #expect(try await fetcher.fetch(DataRequest(url: url)).body == Data(users.utf8))
    }

    @Test func onlyRegularFilesAreFound() async throws {
        try directory.write("x", to: "mirror/folder.json/x.json")
        #expect(try await fetch("/folder").status == .notFound)
        #expect(try await fetch("/avatars").status == .notFound)
        #expect(try await fetch("/avatars/").status == .notFound)
        #expect(try await fetch("").status == .notFound)
    }

    @Test func namedPipeIsNotFoundAndDoesNotBlock() async throws {
        let path = mirror.appending(path: "pipe.json").path(percentEncoded: false)
        // `unsafe`: the string outlives the call, which keeps no pointer to it.
        try #require(unsafe mkfifo(path, 0o600) == 0)
        #expect(try await fetch("/pipe").status == .notFound)
    }

    @Test func fileMayBeAsLargeAsTheLimitButNotLarger() async throws {
        try directory.write(String(repeating: "x", count: 1_000), to: "mirror/a.json")
        try directory.write(String(repeating: "x", count: 1_001), to: "mirror/b.json")
        #expect(try await fetch("/a").body.count == 1_000)
        let error = await #expect(throws: FetchError.self) { try await fetch("/b") }
        #expect(error?.reason == .tooLarge)
    }

    @Test func limitAppliesToTheWholeFile() async throws {
        try directory.write(String(repeating: "x", count: 3_000_000), to: "mirror/c.json")
        #expect(try await fetch("/c", limit: 3_000_000).body.count == 3_000_000)
        await #expect(throws: FetchError.self) { try await fetch("/c", limit: 2_999_999) }
    }

    @Test func missingDirectoryIsAnError() throws {
        for path in ["nowhere", "secret.json"] {
            let url = directory.url.appending(path: path)
            let error = #expect(throws: FileDataFetcherError.self) { try FileDataFetcher(directory: url) }
            #expect(error?.description.contains(path) == true)
        }
    }

    @Test func percentEncodedNamesAreFound() async throws {
        try directory.write("[1]", to: "mirror/grüße an alle.json")
        #expect(try await body("/gr%C3%BC%C3%9Fe%20an%20alle") == "[1]")
    }
}
