import Entities
import Foundation
import Infrastructure
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Testing
import UseCases

@testable import FeedService

/// The outboxes on the command line.
@Suite(.timeLimit(.minutes(5)))
struct OperatorOutboxTests {
    private static let root = "https://upstream.test/api"

    /// The sample as an upstream on the web, which no write reaches.
    private var upstream: StubDataFetcher {
        let sample = SampleDataFetcher()
        return StubDataFetcher { request throws(FetchError) in
            guard request.method == .get else {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody", wasSent: false)
            }
            var copy = request
            let path = request.url.absoluteString.dropFirst(Self.root.count)
            copy.url = URL(string: "sample:///\(path.trimmingPrefix("/"))") ?? request.url
            return try await sample.fetch(copy)
        }
    }

    /// Returns the list of the command for an upstream.
    private func list(_ settings: ServiceSettings) async throws -> String {
        let app = try await FeedApp(settings, dataFetcher: upstream, pendingWrites: .show)
        let list = try await OperatorOutbox(app).list()
        try await app.scope.close()
        return list
    }

    @Test func listNamesItsUpstreamAndThoseThatHaveWrites() async throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        var sample = ServiceSettings()
        sample.store = .directory(directory.path)
        #expect(try await list(sample) == "No writes to the built-in sample are pending or refused.\n")
        var settings = sample
        settings.upstream = URL(string: Self.root)
        let app = try await FeedApp(settings, dataFetcher: upstream)
        _ = try await app.withReader(for: .guest) { reader in
            try await reader.publishPost(title: "Letters", body: "On the engine.", by: User.ID(7))
        }
        try await app.scope.close()
        let own = try await list(settings)
        #expect(own.hasPrefix("Writes to \(Self.root):\n\nGuest “all guests”\n"))
        #expect(own.contains("Letters") && !own.contains("other upstreams"))
        let other = try await list(sample)
        #expect(other.hasPrefix("No writes to the built-in sample are pending or refused.\n"))
        #expect(other.hasSuffix("other upstreams, see --upstream: \(Self.root).\n"))
    }
}
