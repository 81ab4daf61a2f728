import Foundation
import HTTPTypes
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import FeedService

/// The service with a store, which accepts writes before the upstream has answered them.
@Suite(.timeLimit(.minutes(5)))
struct StoreTests {
    /// The sample, which can be cut off.
    private final class Upstream: Sendable {
        let sample = SampleDataFetcher()
        let isReachable = Mutex(true)

        var dataFetcher: StubDataFetcher {
            StubDataFetcher { [self] request throws(FetchError) in
                guard isReachable.withLock(\.self) else {
                    throw FetchError(.unreachable, request: request, explanation: "reached nobody", wasSent: false)
                }
                return try await sample.fetch(request)
            }
        }

        var postCount: Int {
            get async throws {
                let body = try await sample.fetchData(from: SampleDataFetcher.baseURL.appending(path: "posts"))
                return try #require(try JSONSerialization.jsonObject(with: body) as? [Any]).count
            }
        }
    }

    /// The lines of a log.
    private final class Lines: Sendable {
        private let bytes = Mutex(Data())

        var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

        func append(_ line: Data) { bytes.withLock { $0.append(line) } }
    }

    private static let draft = #"{"authorID": 7, "title": "Letters", "body": "On the engine."}"#
    private let upstream = Upstream()

    private func withDirectory(_ test: (ServiceSettings) async throws -> Void) async throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = ServiceSettings()
        settings.store = .directory(directory.path)
        try await test(settings)
    }

    private func stage(_ settings: ServiceSettings) async throws -> FeedStage {
        try await FeedStage(settings, dataFetcher: upstream.dataFetcher, clock: ContinuousClock())
    }

    @Test func writeIsAcceptedWithoutTheUpstreamAndDeliveredByTheNextProcess() async throws {
        try await withDirectory { settings in
            let key: HTTPFields = [.idempotencyKey: "key-1"]
            try await stage(settings).serving { client in
                // The author and the titles have been read, so that the rules can be checked.
                _ = try await client.get("/api/users/7/posts")
                upstream.isReachable.withLock { $0 = false }
                let accepted = try await client.send(.post, "/api/posts", Self.draft, key)
                #expect(accepted.status == .accepted)
                #expect(try accepted.object["state"] as? String == "pending")
                let shown = try await client.get(try #require(accepted.headers[.location]))
                #expect(shown.headers[.eTag] == accepted.headers[.eTag])
                #expect(shown.headers[.cacheControl] == "no-store")
                // A temporary identity must not get into other caches, and no comment can name it.
                for path in ["/api/feed", "/api/users/7/posts", "/posts"] {
                    let list = try await client.get(path)
                    #expect(list.headers[.cacheControl] == "no-store")
                }
                let comment = #"{"name": "Ada", "email": "ada@example.org", "body": "x"}"#
                let location = accepted.headers[.location] ?? ""
                let refused = try await client.send(.post, "\(location)/comments", comment)
                #expect(try refused.problem(409).contains("not published yet"))
            }
            upstream.isReachable.withLock { $0 = true }
            #expect(try await upstream.postCount == 100)

            let next = try await stage(settings)
            try await next.serving { client in
                // The client does not know whether its request was accepted.
                let repeated = try await client.send(.post, "/api/posts", Self.draft, key)
                #expect(repeated.status == .accepted && repeated.headers[.idempotencyReplayed] == "true")
                // The shutdown waits for the writes of sessions that are open.
                _ = try await client.get("/api/feed?size=1")
                _ = await next.app.scope.shutDown(within: .seconds(60))
                #expect(try await upstream.postCount == 101)
            }
        }
    }

    /// What is kept of a form to recognize it again must not be as long as the form, of which the service reads only a few fields.
    @Test func formTakesUpLittleSpace() async throws {
        try await withDirectory { settings in
            try await stage(settings).serving { client in
                for number in 1...3 {
                    let form =
                        "title=Letters&body=On+engines.&author=7&key=\(number)&x="
                        + String(repeating: "x", count: 100_000)
                    let fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
                    _ = try await client.send(.post, "/posts", form, fields)
                }
            }
            guard case .directory(let path)? = settings.store else { return }
            let files = try #require(FileManager.default.enumerator(atPath: path))
            var bytes = 0
            while files.nextObject() != nil { bytes += (files.fileAttributes?[.size] as? Int) ?? 0 }
            #expect((1...100_000).contains(bytes))
        }
    }

    @Test func deletionIsAcceptedAsPending() async throws {
        try await withDirectory { settings in
            try await stage(settings).serving { client in
                for (path, id) in [("/api/posts/20", 20), ("/api/comments/23", 23)] {
                    let key: HTTPFields = [.idempotencyKey: "key-\(id)"]
                    let deleted = try await client.send(.delete, path, "", key)
                    #expect(deleted.status == .accepted && deleted.headers[.cacheControl] == "no-store")
                    #expect(deleted.headers[.contentType] == "application/json; charset=utf-8")
                    let deletion = try deleted.object
                    #expect(Set(deletion.keys) == ["id", "state"])
                    #expect(deletion["id"] as? Int == id && deletion["state"] as? String == "pending")
                    let repeated = try await client.send(.delete, path, "", key)
                    #expect(repeated.status == .accepted && repeated.body == deleted.body)
                }
            }
        }
    }

    /// Runs a server that ends as soon as it has started, and returns its log.
    private func startLog(of settings: ServiceSettings) async throws -> String {
        let app = try await FeedApp(settings, dataFetcher: upstream.dataFetcher)
        let lines = Lines()
        let logger = Logger(label: "test") { label in JSONLogHandler(label: label, write: { lines.append($0) }) }
        let group = ServiceGroup(configuration: .init(services: [] as [any Service], logger: logger))
        do {
            try await FeedServer(app, settings).run(group, logger: logger)
        } catch {
            #expect(!app.scope.isOpen)
            throw error
        }
        return lines.text
    }

    @Test func serverDoesNotStartIfTheDirectoryOfItsStoreCannotBeUsed() async throws {
        try await withDirectory { settings in
            guard case .directory(let path)? = settings.store else { return }
            #expect(try await !startLog(of: settings).contains("cannot be used"))
            try FileManager.default.removeItem(atPath: path)
            // A file is in the place of the directory.
            try Data().write(to: URL(filePath: path))
            let error = await #expect(throws: RecordStoreError.self) { try await startLog(of: settings) }
            #expect(error?.explanation.contains(path) == true)
        }
    }

    @Test func serverStartsBeforeItsDatabase() async throws {
        var settings = ServiceSettings()
        // Nothing listens there.
        settings.store = .postgreSQL("postgresql://127.0.0.1:1/feed")
        #expect(try await startLog(of: settings).contains("The store cannot be used yet."))
    }

    @Test func tokensOutliveTheProcess() async throws {
        try await withDirectory { settings in
            var settings = settings
            settings.tokenEndpoint = URL(string: "https://upstream.test/token")
            let dataFetcher = StubDataFetcher(DataResponse(body: Data(#"{"token": "t"}"#.utf8)))
            let token = try await FeedStage(settings, dataFetcher: dataFetcher).serving { client in
                let response = try await client.send(.post, "/api/session", #"{"user": "ada"}"#)
                return try #require(try response.object["token"] as? String)
            }
            let next = try await FeedStage(settings, dataFetcher: dataFetcher)
            try await next.serving { client in
                let session = try await client.get("/api/session", [.authorization: "Bearer \(token)"])
                #expect(try session.object["user"] as? String == "ada")
            }
        }
    }
}
