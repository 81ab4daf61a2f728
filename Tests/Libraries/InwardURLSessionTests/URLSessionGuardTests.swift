import Foundation
import InwardFetching
import LoopbackServer
import Testing

@testable import InwardURLSession

/// Address policies that the fetcher can apply, and those that it refuses.
@Suite(.timeLimit(.minutes(5)))
struct URLSessionGuardTests {
    private func error(_ fetcher: any DataFetcher, _ url: URL) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(DataRequest(url: url)) }
    }

    @Test func policiesThatCheckAddressesNameTheTrait() throws {
        let trusting = try AddressPolicy.publicInternet.trusting(originOf: #require(URL(string: "http://a.test")))
        for policy in [.publicInternet, try AddressPolicy(hosts: ["example.com"]), trusting] {
            let error = #expect(throws: AddressPolicyError.self) {
                try URLSessionDataFetcher().retrying(.standard).guarding(with: policy)
            }
            #expect(error?.description.contains("Enable the package trait AsyncHTTPClient") == true)
        }
    }

    @Test func onlyTheTrustedOriginIsAsked() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            try await LoopbackServer.serving({ _ in .whole() }) { other in
                let fetcher = try URLSessionDataFetcher().guarding(with: .origin(of: server.url()))
                #expect(try await fetcher.fetch(DataRequest(url: server.url("a"))).status == .ok)
                // Without the layer that checks URLs early, too.
                for fetcher in [fetcher, fetcher.base] {
                    #expect(await error(fetcher, other.url("a"))?.reason == .addressRefused)
                }
                #expect(server.requests.count == 1)
                #expect(other.connectionCount == 0)
            }
        }
    }

    @Test func redirectsAreChecked() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            let locations = ["/away": other.url("a").absoluteString, "/home": "/a"]
            try await LoopbackServer.serving({ request in
                guard let location = locations[request.target] else { return .whole() }
                return .whole(status: 302, headerLines: ["Location: \(location)"])
            }) { server in
                let fetcher = try URLSessionDataFetcher().guarding(with: .origin(of: server.url()))
                #expect(try await fetcher.fetch(DataRequest(url: server.url("home"))).status == .ok)
                #expect(await error(fetcher, server.url("away"))?.addressRefusal?.rule == .hostNotAllowed)
                #expect(other.connectionCount == 0)
            }
        }
    }

    @Test func guardedFetcherUsesNoEnvironmentProxy() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let proxies = EnvironmentProxies(["http_proxy": "http://proxy.test"])
            let fetcher = URLSessionDataFetcher(environmentProxies: proxies, usesEnvironmentProxies: true)
            let guarded = try fetcher.guarding(with: .origin(of: server.url()))
            let error = await error(guarded, server.url("a"))
            #expect(error?.reason == .untrusted)
            #expect(error?.explanation.hasSuffix("through a proxy. Unset the variable") == true)
            #expect(server.connectionCount == 0)
        }
    }
}
