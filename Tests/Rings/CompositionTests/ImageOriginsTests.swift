import Foundation
import InwardFetching
import InwardImages
import InwardScopes
import InwardTesting
import Testing

@testable import Composition

/// Circuit breakers and policies of image hosts and the upstream. No server listens on these ports.
@Suite(.timeLimit(.minutes(5)))
struct ImageOriginsTests {
    private static let upstream = "http://127.0.0.1:1"

    private func app(allowing policy: AddressPolicy? = nil) async throws -> AppContainer {
        try await AppContainer(
            AppConfiguration(
                upstream: Self.upstream,
                imageAddressPolicy: policy,
                policy: UpstreamPolicy(attempts: 1)
            ),
            clock: ManualClock()
        )
    }

    private func circuit(of address: String, in app: AppContainer) throws -> CircuitBreaker.State? {
        let url = try #require(URL(string: address))
        return try app.scope.objects().imageOrigins.protection(of: url)?.circuitBreaker.state
    }

    private func load(_ count: Int, from base: String, _ images: ImageLoader) async {
        for number in 0..<count { _ = await images.load(ImageAddress("\(base)\(number).png")) }
    }

    #if AsyncHTTPClient
    @Test func failingImageHostOpensOnlyItsOwnCircuit() async throws {
        let app = try await app(allowing: AddressPolicy(ports: [2, 3], allowing: [.ipv4Loopback]))
        let images = try await UserContainer(.guest, in: app).images
        await load(10, from: "http://127.0.0.1:2/", images)
        await load(1, from: "http://127.0.0.1:3/", images)
        #expect(try circuit(of: "http://127.0.0.1:2", in: app) == .open(remaining: .seconds(10)))
        #expect(try circuit(of: "http://127.0.0.1:3", in: app) == .closed)
        #expect(try app.circuitBreaker.state == .closed)
        try await app.close()
    }
    #endif

    @Test func refusedImageHostsHaveNoCircuits() async throws {
        let app = try await app()
        await load(10, from: "http://127.0.0.1:2/", try await UserContainer(.guest, in: app).images)
        #expect(try app.scope.objects().imageOrigins.count == 0)
        try await app.close()
    }

    @Test func imagesOfTheUpstreamHaveTheirOwnCircuit() async throws {
        let app = try await app()
        let user = try await UserContainer(UserSession(name: "ada", credentials: .bearer("token")), in: app)
        await load(10, from: "avatars/", try user.images)
        #expect(try circuit(of: Self.upstream, in: app) == .open(remaining: .seconds(10)))
        #expect(try app.circuitBreaker.state == .closed)
        try await app.close()
    }

    @Test func newPolicyAppliesToTheUpstreamAndToImages() async throws {
        let app = try await app()
        await load(1, from: "avatars/", try await UserContainer(.guest, in: app).images)
        try app.replacePolicy(UpstreamPolicy(attempts: 9))
        #expect(try app.pipeline.description.contains("tries up to 9 times"))
        let url = try #require(URL(string: Self.upstream))
        #expect(try app.scope.objects().imageOrigins.protection(of: url)?.policy.attempts == 9)
        try await app.close()
    }
}
