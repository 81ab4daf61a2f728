import Foundation
import InwardFetching
import InwardImageCodecs
import InwardImages
import InwardRepositories
import InwardScopes
import InwardTesting
import LoopbackServer
import Testing

@testable import Composition

/// Where an app loads images from, and with which credentials.
@Suite(.timeLimit(.minutes(5)))
struct GuardedImagesTests {
    private let ada = UserSession(name: "ada", credentials: .bearer("token"))
    private let picture: LoopbackAnswer

    init() throws {
        let image = Image(size: ImageSize(clamping: 2, 2), color: .white)
        picture = .whole(
            headerLines: ["Cache-Control: max-age=600"],
            body: try SwiftImageCodec().bytes(of: image, as: .png)
        )
    }

    /// Opens a session of an app whose upstream is a server, and runs a test with its image loader.
    private func loading(
        from server: LoopbackServer,
        allowing policy: AddressPolicy? = nil,
        withCredentials sendsCredentials: Bool = false,
        _ test: (ImageLoader) async throws -> Void
    ) async throws {
        let configuration = try AppConfiguration(
            upstream: server.url("api").absoluteString,
            imageAddressPolicy: policy,
            sendsCredentialsForImages: sendsCredentials
        )
        let app = try await AppContainer(configuration, clock: ManualClock())
        let user = try await UserContainer(ada, in: app)
        try await test(user.images)
        try await app.close()
    }

    private func reason(_ images: ImageLoader, _ address: String) async -> ImageError.Reason? {
        do throws(ImageError) {
            _ = try await images.loadImage(from: ImageAddress(address))
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func imagesOfTheUpstreamAreLoadedWithoutCredentials() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { server in
            try await loading(from: server) { images in
                #expect(await reason(images, "avatars/7.png") == nil)
                #expect(await reason(images, server.url("elsewhere.png").absoluteString) == nil)
            }
            #expect(server.requests.map(\.target) == ["/api/avatars/7.png", "/elsewhere.png"])
            #expect(server.requests.allSatisfy { $0.values(of: "authorization").isEmpty })
        }
    }

    @Test func credentialsAreSentIfTheConfigurationSaysSo() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { server in
            try await loading(from: server, withCredentials: true) { images in
                #expect(await reason(images, "avatars/7.png") == nil)
            }
            #expect(server.requests.map { $0.values(of: "authorization") } == [["Bearer token"]])
        }
    }

    @Test func imagesElsewhereAreRefused() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { other in
            try await LoopbackServer.serving({ [picture] _ in picture }) { server in
                try await loading(from: server, withCredentials: true) { images in
                    for address in [
                        other.url("a.png").absoluteString, "http://localhost:\(server.port)/a.png",
                        "http://ada:secret@127.0.0.1:\(server.port)/a.png", "https://127.0.0.1:\(server.port)/a.png",
                        "http://169.254.169.254/a.png", "http://[::1]:\(server.port)/a.png", "file:///etc/hosts",
                    ] {
                        #expect(await reason(images, address) == .notFound, "\(address)")
                    }
                }
                #expect(server.requests.isEmpty)
                #expect(other.connectionCount == 0)
            }
        }
    }

    @Test func redirectsOfImagesAreChecked() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { other in
            let location = "Location: \(other.url("a.png").absoluteString)"
            try await LoopbackServer.serving({ _ in .whole(status: 302, headerLines: [location]) }) { server in
                try await loading(from: server) { images in
                    #expect(await reason(images, "avatars/7.png") == .notFound)
                }
                #expect(server.requests.count == 1)
                #expect(other.connectionCount == 0)
            }
        }
    }

    /// A response that the session got with its credentials is not used for an image.
    @Test func responsesToCredentialsAnswerNoImages() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { server in
            let configuration = try AppConfiguration(upstream: server.url().absoluteString)
            let app = try await AppContainer(configuration, clock: ManualClock())
            let user = try await UserContainer(ada, in: app)
            let request = DataRequest(url: server.url("a.png"), headerFields: [HeaderField(.accept, "image/*")])
            _ = try await user.scope.objects().upstream.dataFetcher.fetch(request)
            #expect(try await reason(user.images, "a.png") == nil)
            #expect(server.requests.map { $0.values(of: "authorization") } == [["Bearer token"], []])
            try await app.close()
        }
    }

    @Test func pipelineOfImagesListsThePolicy() async throws {
        let app = try await AppContainer(AppConfiguration(upstream: "https://example.org/api"))
        #expect(try app.imagePipeline.description.hasPrefix("sends only to https://example.org:443\n"))
        #expect(try app.imagePipeline.warnings.isEmpty)
        #expect(try !app.pipeline.layers.contains { $0.kind == .addressGuard })
        try await app.close()
    }

    @Test func replacedFetcherThatCannotBeGuardedIsNamed() async throws {
        let configuration = try AppConfiguration(upstream: "https://example.org/api")
        let error = await #expect(throws: AppConfigurationError.self) {
            try await AppContainer(
                configuration,
                dataFetcher: UnawareDataFetcher(base: StubDataFetcher(DataResponse()))
            )
        }
        #expect(error?.description.contains("UnawareDataFetcher cannot check the addresses") == true)
        let app = try await AppContainer(configuration, dataFetcher: StubDataFetcher(DataResponse()))
        #expect(try app.imagePipeline.layers.map(\.kind) == [.addressGuard])
        try await app.close()
    }

    #if AsyncHTTPClient
    @Test func configuredHostsAreLoadedWithoutCredentials() async throws {
        try await LoopbackServer.serving({ [picture] _ in picture }) { other in
            try await LoopbackServer.serving({ [picture] _ in picture }) { server in
                let policy = try AddressPolicy(ports: [other.port], hosts: ["127.0.0.1"], allowing: [.ipv4Loopback])
                try await loading(from: server, allowing: policy, withCredentials: true) { images in
                    #expect(await reason(images, other.url("a.png").absoluteString) == nil)
                    #expect(await reason(images, "avatars/7.png") == nil)
                    #expect(await reason(images, "http://localhost:\(other.port)/a.png") == .notFound)
                }
                #expect(other.requests.map { $0.values(of: "authorization") } == [[]])
                #expect(server.requests.map { $0.values(of: "authorization") } == [["Bearer token"]])
            }
        }
    }
    #else
    @Test func policiesThatCheckAddressesNeedTheTrait() async throws {
        for policy in [AddressPolicy.publicInternet, try AddressPolicy(hosts: ["cdn.example.org"])] {
            let configuration = try AppConfiguration(upstream: "https://example.org", imageAddressPolicy: policy)
            let error = await #expect(throws: AppConfigurationError.self) { try await AppContainer(configuration) }
            #expect(error?.description.contains("Enable the package trait AsyncHTTPClient") == true)
        }
    }
    #endif
}
