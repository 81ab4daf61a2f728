#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import InwardFetching
import LoopbackServer
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import InwardAsyncHTTPClient

/// Tests of the TLS versions that a fetcher accepts, and of redirects away from TLS.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientTLSTests {
    /// Runs a test with a fetcher that has the usual settings and also trusts the server of these tests.
    private func withTrustingFetcher(test: (AsyncHTTPClientDataFetcher) async throws -> Void) async throws {
        var configuration = AsyncHTTPClientDataFetcher.clientConfiguration(
            connectTimeout: .seconds(30),
            bodyLimit: 1_000,
            connectionsPerHost: 4
        )
        configuration.tlsConfiguration?.trustRoots = .certificates([try TLSServer.certificate])
        let client = HTTPClient(configuration: configuration)
        do {
            try await test(AsyncHTTPClientDataFetcher(client: client))
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func request(to server: TLSServer) throws -> DataRequest {
        DataRequest(url: try #require(URL(string: server.address)))
    }

    @Test(arguments: [TLSVersion.tlsv1, .tlsv11])
    func serverWithOnlyOldTLSVersionsIsNotTrusted(version: TLSVersion) async throws {
        try await TLSServer.serving(upTo: version) { server in
            try await withTrustingFetcher { fetcher in
                let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request(to: server)) }
                #expect(error?.reason == .untrusted)
                #expect(server.requestCount == 0)
            }
        }
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func serverWithANewTLSVersionIsTrusted(version: TLSVersion) async throws {
        try await TLSServer.serving(from: version, upTo: version) { server in
            try await withTrustingFetcher { fetcher in
                let response = try await fetcher.fetch(request(to: server))
                #expect(response.status == .ok)
                #expect(server.requestCount == 1)
            }
        }
    }

    /// The certificate is checked only after both sides have agreed on a version.
    @Test(arguments: [(TLSVersion.tlsv11, "PROTOCOL_VERSION"), (.tlsv12, "CERTIFICATE_VERIFY_FAILED")])
    func tlsVersionIsCheckedBeforeTheCertificate(version: TLSVersion, explanation: String) async throws {
        try await TLSServer.serving(upTo: version) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
            let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request(to: server)) }
            #expect(error?.reason == .untrusted)
            #expect(error?.explanation.contains(explanation) == true, "\(error?.explanation ?? "")")
        }
    }

    @Test func redirectFromHTTPSToHTTPIsNotFollowed() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            try await TLSServer.serving(status: .found, headers: ["Location": other.url("b").absoluteString]) {
                server in
                try await withTrustingFetcher { fetcher in
                    let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request(to: server)) }
                    #expect(error?.reason == .untrusted)
                    #expect(error?.explanation.contains("from https to http") == true)
                    #expect(server.requestCount == 1)
                    #expect(other.connectionCount == 0)
                }
            }
        }
    }
}
#endif
