import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardImageServing
import InwardImages
import InwardTesting
import Logging
import NIOCore
import Synchronization
import Testing

@testable import FeedService

/// What the service requests for images whose URLs it has signed.
@Suite(.timeLimit(.minutes(5)))
struct GuardedImageTests {
    /// The paths that servers have been asked for.
    private final class Requests: Sendable {
        private let paths = Mutex<[String]>([])

        var all: [String] { paths.withLock(\.self) }

        func note(_ path: String) { paths.withLock { $0.append(path) } }
    }

    private func picture() async throws -> Data {
        try await SampleDataFetcher().fetchData(from: SampleDataFetcher.baseURL.appending(path: "avatars/7.jpg"))
    }

    private func path(_ address: String, in stage: FeedStage) throws -> String {
        let recipe = try ImageRecipe("grayscale")
        return "/images/\(try stage.app.images.signer.path(to: ImageAddress(address), recipe))"
    }

    /// Returns a server that redirects some paths, and has a picture at all others.
    private func server(
        _ requests: Requests,
        _ picture: Data = Data(),
        redirecting locations: [String: String] = [:]
    ) -> some ApplicationProtocol {
        let router = Router()
        router.get("**") { request, _ -> Response in
            requests.note(request.uri.path)
            if let location = locations[request.uri.path] {
                return Response(status: .found, headers: [.location: location])
            }
            return Response(
                status: .ok,
                headers: [.contentType: "image/jpeg"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: picture))
            )
        }
        return Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func onlyTheUpstreamAndPublicAddressesAreRequested() async throws {
        var settings = ServiceSettings()
        settings.upstream = URL(string: "http://127.0.0.1:9120/api")
        let upstream = RecordingDataFetcher(StubDataFetcher(DataResponse(body: try await picture())))
        let stage = try await FeedStage(settings, dataFetcher: upstream)
        try await stage.serving { client in
            for address in [
                "http://127.0.0.1:9121/secret", "http://localhost:9120/secret", "https://127.0.0.1:9120/secret",
                "http://[::1]:9120/secret", "http://10.0.0.1/a.jpg", "http://169.254.169.254/a.jpg",
                "http://ada:secret@127.0.0.1:9120/a.jpg", "file:///etc/hosts",
            ] {
                let response = try await client.get(try path(address, in: stage))
                #expect(response.status == .notFound, "\(address)")
            }
            #expect(upstream.requests.isEmpty)
            let allowed = ["avatars/7.jpg", "http://127.0.0.1:9120/a.jpg", "https://cdn.example.org/a.jpg"]
            for address in allowed {
                let response = try await client.get(try path(address, in: stage))
                #expect(response.status == .ok, "\(address)")
            }
        }
        #expect(
            upstream.requests.map(\.url.absoluteString) == [
                "http://127.0.0.1:9120/api/avatars/7.jpg", "http://127.0.0.1:9120/a.jpg",
                "https://cdn.example.org/a.jpg",
            ]
        )
    }

    @Test func redirectToAnotherPrivateAddressIsNotFollowed() async throws {
        let (outside, inside) = (Requests(), Requests())
        let picture = try await picture()
        try await server(inside, picture).test(.live) { other in
            let secret = "http://localhost:\(try #require(other.port))/secret.jpg"
            let locations = ["/api/avatars/1.jpg": secret, "/api/avatars/2.jpg": "/api/avatars/3.jpg"]
            try await server(outside, picture, redirecting: locations).test(.live) { upstream in
                var settings = ServiceSettings()
                settings.upstream = URL(string: "http://localhost:\(try #require(upstream.port))/api")
                let stage = try await FeedStage(settings, clock: ContinuousClock())
                try await stage.serving { client in
                    let elsewhere = try await client.get(try path("avatars/1.jpg", in: stage))
                    #expect(elsewhere.status == .notFound)
                    let absolute = try await client.get(try path(secret, in: stage))
                    #expect(absolute.status == .notFound)
                    let own = try await client.get(try path("avatars/2.jpg", in: stage))
                    #expect(own.status == .ok)
                }
            }
        }
        #expect(inside.all.isEmpty)
        #expect(outside.all == ["/api/avatars/1.jpg", "/api/avatars/2.jpg", "/api/avatars/3.jpg"])
    }

    @Test func fetcherThatCannotCheckAddressesRequestsNothing() async throws {
        let requests = Requests()
        let upstream = UnguardedDataFetcher(picture: try await picture()) { requests.note($0.url.path()) }
        var settings = ServiceSettings()
        settings.upstream = URL(string: "http://127.0.0.1:9120/api")
        let stage = try await FeedStage(settings, dataFetcher: upstream)
        try await stage.serving { client in
            let response = try await client.get(try path("avatars/7.jpg", in: stage))
            #expect(response.status == .notFound)
        }
        #expect(requests.all.isEmpty)
    }
}

/// A client that knows nothing of addresses.
private struct UnguardedDataFetcher: DataFetcher {
    let picture: Data
    let note: @Sendable (DataRequest) -> Void

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        note(request)
        return DataResponse(body: picture)
    }
}
