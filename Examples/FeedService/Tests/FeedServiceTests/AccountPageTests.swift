import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Infrastructure
import InwardFetching
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

/// The page on which visitors sign in and out.
@Suite(.timeLimit(.minutes(5)))
struct AccountPageTests {
    private func send(
        _ client: any TestClientProtocol,
        _ path: String,
        _ form: String,
        _ fields: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields = fields
        fields[.contentType] = "application/x-www-form-urlencoded"
        return try await client.execute(uri: path, method: .post, headers: fields, body: ByteBuffer(string: form))
    }

    /// Signs in, and returns the cookie for later requests.
    private func signIn(_ client: any TestClientProtocol, _ fields: HTTPFields = [:]) async throws -> HTTPFields {
        let response = try await send(client, "/account/sign-in", "user=marit.lamp", fields)
        #expect(response.status == .seeOther && response.headers[.location] == "/account")
        return [.cookie: String(try #require(response.headers[.setCookie]).prefix { $0 != ";" })]
    }

    private func account(_ client: any TestClientProtocol, _ cookie: HTTPFields) async throws -> String {
        String(buffer: try await client.get("/account", cookie).body)
    }

    @Test func visitorSignsInAndOut() async throws {
        try await FeedStage().serving { client in
            let cookie = try await signIn(client)
            #expect(try await account(client, cookie).contains("signed in as <bdi>marit.lamp</bdi>"))
            #expect(try await account(client, [:]).contains("Sign in</button>"))
            let answer = try await send(client, "/account/sign-out", "", cookie)
            #expect(answer.status == .seeOther)
            let attributes = try #require(answer.headers[.setCookie]).split(separator: "; ")
            #expect(attributes.first == "session=" && attributes.contains("Max-Age=0"))
            // The token is not valid any more, even if the browser still sends it.
            #expect(try await account(client, cookie).contains("Sign in</button>"))
            #expect(try await client.get("/posts", cookie).status == .ok)
        }
    }

    @Test func visitorSignsOutEverywhere() async throws {
        try await FeedStage().serving { client in
            let (phone, desk, tablet) = (
                try await signIn(client), try await signIn(client), try await signIn(client)
            )
            _ = try await send(client, "/account/sign-out", "", phone)
            #expect(try await account(client, desk).contains("signed in as"))
            _ = try await send(client, "/account/sign-out", "everywhere=yes", desk)
            #expect(try await account(client, tablet).contains("Sign in</button>"))
        }
    }

    @Test func cookieIsHiddenFromScriptsAndFromOtherSites() async throws {
        try await FeedStage().serving { client in
            let plain = try await send(client, "/account/sign-in", "user=marit.lamp").headers[.setCookie]
            let attributes = try #require(plain).split(separator: "; ").dropFirst()
            #expect(Set(attributes) == ["Max-Age=43200", "Path=/", "HttpOnly", "SameSite=Lax"])
            let https = try await send(
                client,
                "/account/sign-in",
                "user=marit.lamp",
                [.init("X-Forwarded-Proto")!: "https"]
            )
            #expect(try #require(https.headers[.setCookie]).split(separator: "; ").contains("Secure"))
            let foreign = try await send(client, "/account/sign-in", "user=marit.lamp", [.secFetchSite: "cross-site"])
            #expect(foreign.status == .forbidden && foreign.headers[.setCookie] == nil)
        }
    }

    @Test(arguments: [
        ("https://evil.test", false), ("null", false), ("http://localhost", true), ("https://localhost", true),
    ])
    func formOfAnotherOriginIsRefused(origin: String, isAccepted: Bool) async throws {
        try await FeedStage().serving { client in
            let response = try await client.execute(
                uri: "/account/sign-in",
                method: .post,
                headers: [.contentType: "application/x-www-form-urlencoded", .origin: origin],
                body: ByteBuffer(string: "user=marit.lamp")
            )
            #expect(response.status == (isAccepted ? .seeOther : .forbidden))
            #expect((response.headers[.setCookie] != nil) == isAccepted)
        }
    }

    @Test func signingInAgainEndsTheEarlierSignIn() async throws {
        try await FeedStage().serving { client in
            let first = try await signIn(client)
            let second = try await signIn(client, first)
            #expect(try await account(client, second).contains("signed in as"))
            #expect(try await account(client, first).contains("Sign in</button>"))
        }
    }

    @Test func upstreamThatCannotTellIsATemporaryProblem() async throws {
        var settings = ServiceSettings()
        settings.tokenEndpoint = URL(string: "https://upstream.test/token")
        let upstream = StubDataFetcher { request throws(FetchError) in
            throw FetchError(DataResponse(status: 500), to: request)
        }
        try await FeedStage(settings, dataFetcher: upstream).serving { client in
            let response = try await send(client, "/account/sign-in", "user=ada")
            #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] == "5")
            #expect(String(buffer: response.body).contains("value=\"ada\""))
        }
    }

    @Test func refusalShowsTheReasonAndTheName() async throws {
        try await FeedStage().serving { client in
            for (name, status) in [("nobody", 403), ("", 422), ("%22x%22+y", 422)] {
                let response = try await send(client, "/account/sign-in", "user=\(name)")
                #expect(response.status.code == status && response.headers[.setCookie] == nil)
                #expect(String(buffer: response.body).contains("role=\"alert\""))
            }
            let response = try await send(client, "/account/sign-in", "user=%22x%22+y")
            #expect(String(buffer: response.body).contains("value=\"&quot;x&quot; y\""))
        }
    }

    @Test func pagesOfAUserAreReadWithTheUsersToken() async throws {
        let sample = SampleDataFetcher()
        let upstream = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                guard request.url.path() == "/token" else { return try await sample.fetch(request) }
                return DataResponse(body: Data(#"{"token": "of-ada"}"#.utf8))
            }
        )
        var settings = ServiceSettings()
        settings.tokenEndpoint = URL(string: "https://upstream.test/token")
        settings.upstream = SampleDataFetcher.baseURL
        try await FeedStage(settings, dataFetcher: upstream).serving { client in
            let answer = try await send(client, "/account/sign-in", "user=ada")
            let cookie: HTTPFields = [.cookie: String(try #require(answer.headers[.setCookie]).prefix { $0 != ";" })]
            let own = try await client.get("/posts", cookie).headers
            #expect(own[.cacheControl]?.hasPrefix("private, max-age=5") == true && own[.vary] == "Cookie")
            let tokens = upstream.requests.filter { $0.url.path().hasSuffix("posts") }.map {
                $0.headerFields[.authorization]
            }
            #expect(tokens == ["Bearer of-ada"])
            let guest = try await client.get("/posts").headers
            #expect(guest[.cacheControl]?.hasPrefix("public") == true && guest[.vary] == "Cookie")
            #expect(try await client.get("/style.css", cookie).headers[.vary] == nil)
        }
    }
}
