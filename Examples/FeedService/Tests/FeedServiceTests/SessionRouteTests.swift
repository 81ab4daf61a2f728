import Foundation
import HTTPTypes
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Synchronization
import Testing

@testable import FeedService

@Suite(.timeLimit(.minutes(5)))
struct SessionRouteTests {
    private func signIn(_ client: any TestClientProtocol, as user: String) async throws -> HTTPFields {
        let response = try await client.send(.post, "/api/session", #"{"user": "\#(user)"}"#)
        #expect(response.status == .created && response.headers[.cacheControl] == "no-store")
        return [.authorization: "Bearer \(try #require(try response.object["token"] as? String))"]
    }

    /// A user name of the sample.
    private func anyUser(_ client: any TestClientProtocol) async throws -> String {
        let users = try #require(try await client.get("/api/users").object["users"] as? [[String: Any]])
        return try #require(users.first?["username"] as? String)
    }

    @Test func userOfTheSampleSignsInAndOut() async throws {
        try await FeedStage().serving { client in
            let user = try await anyUser(client)
            let token = try await signIn(client, as: user)
            #expect(try await client.get("/api/session", token).object["user"] as? String == user)
            #expect(try await client.get("/api/feed?size=1", token).status == .ok)
            #expect(try await client.send(.delete, "/api/session", "", token).status == .noContent)
            for path in ["/api/session", "/api/feed"] {
                let refused = try await client.get(path, token)
                #expect(try refused.problem(401).contains("Sign in"))
                #expect(refused.headers[.wwwAuthenticate] == "Bearer")
            }
        }
    }

    @Test func userCannotEndTheSessionOfGuests() async throws {
        try await stage().serving { client in
            let token = try await signIn(client, as: "guest")
            #expect(try await client.send(.delete, "/api/sessions", "", token).status == .noContent)
        }
        #expect(FeedApp.guests.contains(" "))
    }

    @Test func signingOutEverywhereEndsAllSignInsOfTheUser() async throws {
        try await FeedStage().serving { client in
            let user = try await anyUser(client)
            let (phone, desk) = (try await signIn(client, as: user), try await signIn(client, as: user))
            #expect(try await client.send(.delete, "/api/session", "", phone).status == .noContent)
            #expect(try await client.get("/api/session", desk).status == .ok)
            let tablet = try await signIn(client, as: user)
            #expect(try await client.send(.delete, "/api/sessions", "", tablet).status == .noContent)
            for token in [desk, tablet] { #expect(try await client.get("/api/session", token).status == .unauthorized) }
        }
    }

    @Test func answersToUsersAreNotForSharedCaches() async throws {
        try await FeedStage().serving { client in
            let token = try await signIn(client, as: try await anyUser(client))
            let own = try await client.get("/api/feed", token).headers
            #expect(own[.cacheControl]?.hasPrefix("private, max-age=5") == true && own[.vary] == "Authorization")
            let guest = try await client.get("/api/feed").headers
            #expect(guest[.cacheControl]?.hasPrefix("public, max-age=5") == true && guest[.vary] == "Authorization")
        }
    }

    @Test func unknownUsersAndTokensAreRefused() async throws {
        try await FeedStage().serving { client in
            let unknown = try await client.send(.post, "/api/session", #"{"user": "nobody"}"#)
            #expect(try unknown.problem(403) == "This user may not sign in.")
            for user in ["", "a b", "all guests", "caf\u{E9}", "a\u{A0}b", String(repeating: "x", count: 65)] {
                let response = try await client.send(.post, "/api/session", #"{"user": "\#(user)"}"#)
                #expect(try response.problem(422).contains("1 to 64"))
            }
            let token = try #require(try await signIn(client, as: try await anyUser(client))[.authorization])
            for field in [
                "", "Bearer", "Bearer ", "Bearer x", "Bearer x.y", "Basic eDp5", String(token.dropLast()), token + "A",
                "Bearer " + String(repeating: "x", count: 10_000), "Bearer \(token.split(separator: ".")[1])",
            ] {
                #expect(try await client.get("/api/feed", [.authorization: field]).status == .unauthorized)
            }
            for (method, path) in [(HTTPRequest.Method.get, "session"), (.delete, "session"), (.delete, "sessions")] {
                #expect(try await client.send(method, "/api/\(path)").status == .unauthorized)
            }
        }
    }

    // MARK: Tokens of the upstream

    /// An upstream that answers only requests with the newest token of their user.
    private final class Upstream: Sendable {
        private let sample = SampleDataFetcher()
        let tokens = Mutex<[String]>([])
        /// The users whose tokens were asked for, decoded as in a form.
        let users = Mutex<[String]>([])
        let isDenied = Mutex(false)
        /// What the token endpoint answers instead of a token.
        let garbage = Mutex<String?>(nil)

        var dataFetcher: StubDataFetcher {
            StubDataFetcher { [self] request throws(FetchError) in
                if request.url.path() == "/token" {
                    guard !isDenied.withLock(\.self) else { return DataResponse(status: 403) }
                    if let garbage = garbage.withLock(\.self) { return DataResponse(body: Data(garbage.utf8)) }
                    let field = request.url.query(percentEncoded: true)?.dropFirst("user=".count)
                    let user = field?.replacing("+", with: " ").removingPercentEncoding
                    users.withLock { $0.append(user ?? "") }
                    let token = tokens.withLock { tokens in
                        tokens.append("\((user ?? "").filter(\.isLetter))-\(tokens.count)")
                        return tokens.last ?? ""
                    }
                    return DataResponse(body: Data(#"{"token": "\#(token)", "expires_in": 60}"#.utf8))
                }
                let last = tokens.withLock(\.last)
                guard let last, request.headerFields[.authorization] == "Bearer \(last)" else {
                    return DataResponse(status: 401)
                }
                let path = SampleDataFetcher.baseURL.appending(path: request.url.path())
                return try await sample.fetch(DataRequest(method: request.method, url: path))
            }
        }
    }

    private let upstream = Upstream()

    private let clock = ManualClock()

    private func stage() async throws -> FeedStage {
        var settings = ServiceSettings()
        settings.upstream = URL(string: "https://upstream.test")
        settings.tokenEndpoint = URL(string: "https://upstream.test/token")
        return try await FeedStage(settings, dataFetcher: upstream.dataFetcher, clock: clock)
    }

    @Test func requestsOfAUserHaveTheTokenOfTheUpstream() async throws {
        try await stage().serving { client in
            #expect(try await client.get("/api/users/7").problem(403).contains("Sign in"))
            let token = try await signIn(client, as: "ada")
            #expect(try await client.get("/api/users/7", token).status == .ok)
            #expect(upstream.tokens.withLock(\.self) == ["ada-0"])
        }
    }

    @Test func nameReachesTheTokenEndpointAsItIs() async throws {
        try await stage().serving { client in
            for user in ["ada+x@example.org", "a&user=b", "50%25", "a=b;c?d#e"] {
                _ = try await signIn(client, as: user)
                #expect(upstream.users.withLock(\.last) == user)
            }
        }
    }

    @Test func tokenThatTheUpstreamRefusesIsRenewed() async throws {
        try await stage().serving { client in
            let token = try await signIn(client, as: "ada")
            #expect(try await client.get("/api/users/7", token).status == .ok)
            upstream.tokens.withLock { $0.append("another") }
            clock.advance(by: .seconds(10))
            #expect(try await client.get("/api/users/6", token).status == .ok)
            #expect(upstream.tokens.withLock(\.self) == ["ada-0", "another", "ada-2"])
        }
    }

    @Test func userWhomTheUpstreamDeniesCannotSignIn() async throws {
        upstream.isDenied.withLock { $0 = true }
        try await stage().serving { client in
            let response = try await client.send(.post, "/api/session", #"{"user": "ada"}"#)
            #expect(try response.problem(403) == "This user may not sign in.")
        }
    }

    @Test func userWhomTheUpstreamDeniesLaterCannotSignInAgain() async throws {
        try await stage().serving { client in
            let token = try await signIn(client, as: "ada")
            #expect(try await client.get("/api/users/7", token).status == .ok)
            upstream.isDenied.withLock { $0 = true }
            let response = try await client.send(.post, "/api/session", #"{"user": "ada"}"#)
            #expect(try response.problem(403) == "This user may not sign in.")
        }
    }

    @Test func userWhoHasSignedOutEverywhereGetsANewTokenOfTheUpstream() async throws {
        let tokens = UpstreamTokens(
            endpoint: try #require(URL(string: "https://upstream.test/token")),
            dataFetcher: upstream.dataFetcher
        )
        let first = try await tokens.credential(of: "ada")?.field
        #expect(try await tokens.credential(of: "ada")?.field == first)
        tokens.forget("ada")
        #expect(try await tokens.credential(of: "ada")?.field != first)
    }

    @Test(arguments: [
        "", "x", "{}", #"{"token": ""}"#, #"{"token": "a b"}"#, #"{"token": "a\r\nx: y"}"#, #"{"token": 7}"#,
    ])
    func answerWithoutATokenIsAProblemOfTheUpstream(answer: String) async throws {
        upstream.garbage.withLock { $0 = answer }
        try await stage().serving { client in
            let response = try await client.send(.post, "/api/session", #"{"user": "ada"}"#)
            #expect(try response.problem(502).contains("token"))
        }
    }

    @Test func withoutATokenEndpointNobodySignsIn() async throws {
        var settings = ServiceSettings()
        settings.upstream = URL(string: "https://upstream.test")
        try await FeedStage(settings, dataFetcher: upstream.dataFetcher).serving { client in
            let response = try await client.send(.post, "/api/session", #"{"user": "ada"}"#)
            #expect(try response.problem(404).contains("no token endpoint"))
        }
    }
}

struct SignInsTests {
    private let store = InMemoryRecordStore()

    @Test func tokensExpire() async throws {
        let day = Date(timeIntervalSince1970: 1_000_000)
        let store = InMemoryRecordStore(now: { day })
        let early = SignIns(store: store, lifetime: .seconds(60), now: { day })
        let late = SignIns(store: store, lifetime: .seconds(60), now: { day + 60 })
        let token = try await early.issue(to: "ada")
        #expect(try await early.visitor(with: token) != nil)
        #expect(try await late.visitor(with: token) == nil)
    }

    @Test func storeHasNoToken() async throws {
        let signIns = SignIns(store: store, lifetime: .seconds(600), now: { Date() })
        let token = try await signIns.issue(to: "ada")
        let secret = try #require(token.split(separator: ".").last)
        for (key, record) in try await store.records(under: []) {
            #expect(!key.description.contains(secret))
            #expect(!String(decoding: record.bytes, as: UTF8.self).contains(secret))
        }
    }

    @Test func oldestOfTooManySignInsEnds() async throws {
        let start = Date(timeIntervalSinceNow: 0)
        var tokens: [String] = []
        for number in 0..<22 {
            let signIns = SignIns(store: store, lifetime: .seconds(600), now: { start + Double(number) })
            tokens.append(try await signIns.issue(to: "ada"))
        }
        let signIns = SignIns(store: store, lifetime: .seconds(600), now: { start + 30 })
        var valid: [Bool] = []
        for token in tokens { valid.append(try await signIns.visitor(with: token) != nil) }
        #expect(valid == [false, false] + Array(repeating: true, count: 20))
    }
}
