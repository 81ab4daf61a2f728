import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AuthorizingDataFetcherTests {
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))

    /// Returns the request that a fetcher with credentials sends.
    private func sent(
        _ request: DataRequest,
        with credentials: HeaderField = .bearer("s3cret"),
        for address: String = "https://upstream.test/api"
    ) async throws -> DataRequest {
        _ = try await source.authorizing(with: credentials, for: DataRequest.example(address).url).fetch(request)
        return try #require(source.requests.last)
    }

    @Test(arguments: [
        "https://upstream.test/users", "https://upstream.test", "https://UPSTREAM.test:443/elsewhere?x=1#y",
        "HTTPS://upstream.test/", "https://ada@upstream.test/",
    ])
    func credentialsAreSentToTheirOrigin(address: String) async throws {
        let request = try DataRequest.example(address, headerFields: [HeaderField(.accept, "text/plain")])
        let sent = try await sent(request)
        #expect(Array(sent.headerFields) == [HeaderField(.accept, "text/plain"), .bearer("s3cret")])
        #expect(sent.url == request.url)
    }

    @Test(arguments: [
        "http://upstream.test/users", "https://upstream.test:8080/users", "https://other.test/users",
        "https://upstream.test.evil/users", "https://www.upstream.test/", "https://upstream.test@evil.test/",
        "https://upstream.test:80/", "file:///users", "ftp://upstream.test:443/",
    ])
    func credentialsAreNotSentToOtherOrigins(address: String) async throws {
        let request = try DataRequest.example(address, headerFields: [HeaderField(.accept, "text/plain")])
        #expect(try await sent(request) == request)
    }

    @Test(arguments: [
        ("https://upstream.test", "https://upstream.test:443/x"), ("http://[::1]:1/", "http://[::1]:1/x"),
    ])
    func originWithoutAPortHasTheDefaultPortOfItsScheme(origin: String, address: String) async throws {
        let sent = try await sent(.example(address), for: origin)
        #expect(sent.headerFields[.authorization] == "Bearer s3cret")
    }

    @Test func credentialsReplaceAnExistingValueOfTheirField() async throws {
        let request = try DataRequest.example(
            "https://upstream.test/users",
            headerFields: [
                HeaderField(.authorization, "a"), HeaderField(.accept, "x"),
                HeaderField(#require(HeaderField.Name("AUTHORIZATION")), "b"),
            ]
        )
        let sent = try await sent(request)
        #expect(sent.headerFields.values(of: .authorization) == ["Bearer s3cret"])
        #expect(sent.headerFields.count == 2)
    }

    @Test func methodAndBodyAreSentUnchanged() async throws {
        let request = try DataRequest.example("https://upstream.test/users", method: .put, body: Data("x".utf8))
        let sent = try await sent(request)
        #expect(sent.method == .put)
        #expect(sent.body == Data("x".utf8))
    }

    @Test(arguments: ["Authorization", "X-Session"])
    func descriptionsContainNoCredentials(name: String) async throws {
        let credentials = HeaderField(try #require(HeaderField.Name(name)), "s3cret", isSensitive: false)
        let failing = StubDataFetcher(failing: .unreachable, explanation: "failed with s3cret")
        let request = try DataRequest.example("https://upstream.test/users")
        let fetcher = failing.authorizing(with: credentials, for: request.url)
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        let sent = try await sent(request, with: credentials)
        #expect(sent.headerFields.map(\.isSensitive) == [true])
        var dumped = ""
        dump(fetcher, to: &dumped)
        dump(sent, to: &dumped)
        dump(error, to: &dumped)
        for text in [
            dumped, "\(fetcher)", String(reflecting: fetcher), "\(sent)", String(reflecting: sent.headerFields),
        ] {
            #expect(!text.contains("s3cret"))
        }
    }

    @Test(arguments: [
        ("https://other.test/", false), ("https://upstream.test:81/", false), ("/elsewhere", true),
        ("https://upstream.test:443/elsewhere", true),
    ])
    func redirectsKeepCredentialsOnlyWithinTheirOrigin(location: String, staysWithOrigin: Bool) async throws {
        let name = try #require(HeaderField.Name("X-Session"))
        let redirect = DataResponse(status: 302, headerFields: [HeaderField(.location, location)])
        let source = RecordingDataFetcher(ScriptedDataFetcher([.answer(redirect), .answer(DataResponse())]))
        let following = StubDataFetcher { request throws(FetchError) in
            try await RedirectPolicy.followed(upTo: 1).answer(to: request, by: source.fetch)
        }
        let request = try DataRequest.example("https://upstream.test/users")
        _ = try await following.authorizing(with: HeaderField(name, "s3cret"), for: request.url).fetch(request)
        #expect(source.requests.map { $0.headerFields[name] } == ["s3cret", staysWithOrigin ? "s3cret" : nil])
    }

    @Test(arguments: [
        "http://upstream.test/", "http://192.168.0.1/", "http://128.0.0.1/", "http://127.0.0.1.evil.test/",
        "http://127.0.0/", "http://127.0.0.256/", "http://127.0.0.01/", "http://localhost.evil.test/", "http://[::2]/",
        "http://[::ffff:1.2.3.4]/", "HTTP://UPSTREAM.test/",
    ])
    func credentialsAreNotSentOverPlainHTTPToAnotherMachine(address: String) async throws {
        let request = try DataRequest.example(address)
        let error = await #expect(throws: FetchError.self) {
            try await source.authorizing(with: .bearer("s3cret"), for: request.url).fetch(request)
        }
        #expect(source.requests.isEmpty)
        #expect(error?.reason == .rejected)
        #expect(error?.wasSent == false)
        #expect(error?.explanation.contains("https") == true)
        let allowed = source.authorizing(with: .bearer("s3cret"), for: request.url, allowingPlainHTTP: true)
        _ = try await allowed.fetch(request)
        #expect(source.requests.last?.headerFields[.authorization] == "Bearer s3cret")
    }

    @Test(arguments: [
        "http://127.0.0.1/", "http://127.255.3.4:8080/", "http://[::1]/", "http://localhost:1/", "HTTP://LOCALHOST/",
    ])
    func credentialsAreSentOverPlainHTTPToThisMachine(address: String) async throws {
        let sent = try await sent(.example(address), for: address)
        #expect(sent.headerFields[.authorization] == "Bearer s3cret")
    }

    @Test func requestsToOtherOriginsAreSentOverPlainHTTP() async throws {
        let other = try DataRequest.example("http://other.test/")
        #expect(try await sent(other, for: "http://upstream.test/") == other)
    }

    @Test func bearerAndBasicCredentialsAreEncoded() throws {
        #expect(HeaderField.bearer("mF_9.B5f-4.1JqM").name == .authorization)
        #expect(HeaderField.bearer("mF_9.B5f-4.1JqM").value == "Bearer mF_9.B5f-4.1JqM")
        // The examples of RFC 7617 sections 2 and 2.1.
        let basic = try #require(HeaderField.basic(user: "Aladdin", password: "open sesame"))
        #expect(basic.value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(HeaderField.basic(user: "test", password: "123£")?.value == "Basic dGVzdDoxMjPCow==")
        #expect(basic.name == .authorization)
        #expect(HeaderField.basic(user: "ada:", password: "x") == nil)
        for field in [basic, .bearer("t0ken")] {
            #expect(field.isSensitive)
            #expect("\(field)" == "Authorization: …")
        }
    }
}
