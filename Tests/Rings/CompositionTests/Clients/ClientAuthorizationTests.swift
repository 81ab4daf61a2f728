import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Which servers get credentials, and what happens when a server rejects them.
@Suite(.timeLimit(.minutes(5)))
struct ClientAuthorizationTests {
    /// Returns credentials that are renewed with a token from the server.
    private func credentials(
        _ server: LoopbackServer,
        by fetcher: any DataFetcher,
        clock: ManualClock = ManualClock()
    ) -> Credentials {
        Credentials(.bearer("old"), for: server.url(), timer: TimerService(clock)) { () throws(FetchError) in
            let response = try await fetcher.fetch(DataRequest(method: .post, url: server.url("token")))
            return .bearer(String(decoding: response.body, as: UTF8.self))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func rejectedCredentialsAreRenewedAndTheRequestIsRepeated(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            if request.target == "/token" { return .whole(body: Array("new".utf8)) }
            let isTaken = request.values(of: "authorization") == ["Bearer new"]
            return .whole(status: isTaken ? 200 : 401, headerLines: isTaken ? [] : ["WWW-Authenticate: Bearer"])
        }) { server in
            let base = client.makeFetcher()
            let fetcher = base.authorizing(with: credentials(server, by: base))
            for _ in 0..<2 {
                let response = try await fetcher.fetch(DataRequest(url: server.url("x")))
                #expect(response.status == .ok)
            }
            #expect(server.requests.map(\.target) == ["/x", "/token", "/x", "/x"])
            #expect(
                server.requests.map { $0.values(of: "authorization") }
                    == [["Bearer old"], [], ["Bearer new"], ["Bearer new"]]
            )
        }
    }

    @Test(arguments: TestedClient.allCases)
    func permanentlyRejectedCredentialsAreRenewedOncePerInterval(client: TestedClient) async throws {
        let clock = ManualClock()
        try await LoopbackServer.serving({ request in
            request.target == "/token" ? .whole(body: Array("new".utf8)) : .whole(status: 401)
        }) { server in
            let base = client.makeFetcher()
            let fetcher = base.authorizing(with: credentials(server, by: base, clock: clock))
            for _ in 0..<3 {
                let response = try await fetcher.fetch(DataRequest(url: server.url("x")))
                #expect(response.status == .unauthorized)
            }
            #expect(server.requests.map(\.target) == ["/x", "/token", "/x", "/x", "/x"])
            clock.advance(by: .seconds(10))
            _ = try await fetcher.fetch(DataRequest(url: server.url("x")))
            #expect(server.requests.map(\.target).suffix(3) == ["/x", "/token", "/x"])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func credentialsAreNotSentInCleartextOverANetwork(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            // This address also reaches this machine, but is not known to be local.
            let url = try #require(URL(string: "http://0.0.0.0:\(server.port)/x"))
            let fetcher = client.makeFetcher().authorizing(with: .bearer("s3cret"), for: url)
            let error = await fetcher.failure(DataRequest(url: url))
            #expect(error?.reason == .rejected)
            #expect(error?.wasSent == false)
            #expect(error?.description.contains("s3cret") == false)
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func failedRenewalIsTheErrorOfTheRequest(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/token" ? .cutOff(promised: 9, sent: 1) : .whole(status: 401)
        }) { server in
            let base = client.makeFetcher()
            let fetcher = base.authorizing(with: credentials(server, by: base))
            #expect(await fetcher.failure(DataRequest(url: server.url("x")))?.reason == .interrupted)
            #expect(server.requests.map(\.target) == ["/x", "/token"])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func redirectNeitherForwardsNorRenewsCredentials(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole(status: 401) }) { other in
            let elsewhere = other.url("b").absoluteString
            try await LoopbackServer.serving({ _ in .whole(status: 307, headerLines: ["Location: \(elsewhere)"]) }) {
                server in
                let base = client.makeFetcher()
                let fetcher = base.authorizing(with: credentials(server, by: base))
                let response = try await fetcher.fetch(DataRequest(url: server.url("a")))
                #expect(response.status == .unauthorized)
                #expect(server.requests.map { $0.values(of: "authorization") } == [["Bearer old"]])
                #expect(other.requests.map { $0.values(of: "authorization") } == [[]])
            }
        }
    }
}
