import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import TestSupport
import Testing

extension UpstreamName {
    fileprivate static let search = Self("search")
}

@Suite(.timeLimit(.minutes(5)))
struct SeveralUpstreamsTests {
    private let source = NoteUpstream()
    private let search = NoteUpstream()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let errors = RecordingErrorHandler()
    private let credentials = SessionCredentials.fixed(.bearer("main"))
        .adding(.fixed(.bearer("found")), for: .search)

    /// Opens an app with two upstreams, by default at the same address.
    private func app(
        _ address: String = "https://upstream.test",
        asking other: (any DataFetcher)? = nil,
        storing: Bool = true
    ) async throws -> AppScope<Void> {
        let url = try #require(URL(string: "https://upstream.test"))
        var configuration = AppScopeConfiguration(
            Upstream(baseURL: url, dataFetcher: source),
            store: storing ? store : nil,
            endpoints: [AnyEndpoint(.notes), AnyEndpoint(.notes.at(.search))]
        )
        let otherURL = try #require(URL(string: address))
        configuration.add(Upstream(baseURL: otherURL, dataFetcher: other ?? search), as: .search)
        configuration.errorHandler = errors
        configuration.clock = ManualClock()
        configuration.outboxPolicy = OutboxPolicy(initialWait: .zero)
        return await AppScope("notes", configuration)
    }

    /// Writes a note to each upstream while both are offline, in a process that then ends.
    private func leaveWrites() async throws {
        source.goOffline()
        search.goOffline()
        let app = try await app()
        let session = try await app.signIn(as: "ada", credentials: credentials)
        _ = try await session.repository(.notes).create(NoteDraft(text: "Main"))
        _ = try await session.repository(.notes.at(.search)).create(NoteDraft(text: "Search"))
        try await app.close()
        source.goOffline(false)
        search.goOffline(false)
    }

    @Test func endpointUsesItsUpstreamAndTheUpstreamsCredentials() async throws {
        let app = try await app("https://search.test/v1", storing: false)
        let session = try await app.signIn(as: "ada", credentials: credentials)
        let archive = try session.repository(.archive.at(.search))
        _ = try await archive.entity(7)
        #expect(search.requests.map(\.url.absoluteString) == ["https://search.test/v1/archive/7"])
        #expect(source.requests.isEmpty)
        _ = try await session.repository(.archive).entity(7)
        #expect(search.tokens == ["Bearer found"])
        #expect(source.tokens == ["Bearer main"])
        #expect(try session.repository(.archive.at(.search)) === archive)
        #expect(try session.repository(.archive) !== archive)
        try await app.close()
    }

    @Test func credentialsAreSentToTheirUpstreamOnly() async throws {
        let app = try await app(storing: false)
        let one = SessionCredentials.fixed(.bearer("main"))
        for credentials in [one, .none.adding(.fixed(.bearer("found")), for: .search)] {
            let session = try await app.signIn(as: "ada", credentials: credentials)
            _ = try await session.repository(.archive).entity(7)
            _ = try await session.repository(.archive.at(.search)).entity(7)
            try await session.close()
        }
        #expect(source.tokens == ["Bearer main", nil])
        #expect(search.tokens == [nil, "Bearer found"])
        try await app.close()
    }

    @Test func entitiesForEveryoneAreSharedAtEachUpstream() async throws {
        let app = try await app(storing: false)
        for user in ["ada", "bob"] {
            let session = try await app.signIn(as: user, credentials: credentials)
            let board = try session.repository(.board.at(.search))
            _ = try await board.entity(7)
            #expect(try board === app.repository(.board.at(.search)))
            #expect(try board !== app.repository(.board))
        }
        #expect(search.tokens == [nil])
        #expect(source.requests.isEmpty)
        try await app.close()
    }

    @Test func unknownUpstreamIsRefused() async throws {
        let app = try await app()
        let session = try await app.signIn(as: "ada")
        let error = #expect(throws: RepositoryError.self) { try session.repository(.archive.at(UpstreamName("mail"))) }
        #expect(error?.reason == .refused)
        #expect(error?.description.contains("no upstream named mail") == true)
        #expect(throws: RepositoryError.self) { try session.repositories.upstream(UpstreamName("mail")) }
        #expect(try session.repositories.upstream(.search).baseURL == session.upstream.baseURL)
        try await app.close()
    }

    @Test func storedResponsesAreSeparateEvenAtTheSameAddress() async throws {
        let first = try await app()
        let session = try await first.signIn(as: "ada", credentials: credentials)
        _ = try await session.repository(.notes).entity(7)
        try await first.close()
        source.goOffline()
        search.goOffline()
        let second = try await app()
        let back = try await second.signIn(as: "ada", credentials: credentials)
        #expect(try await back.repository(.notes).entity(7).value.text == "Seven")
        await #expect(throws: RepositoryError.self) { try await back.repository(.notes.at(.search)).entity(7) }
        try await second.close()
    }

    @Test func eachUpstreamHasItsOwnOutbox() async throws {
        try await leaveWrites()
        let app = try await app()
        let session = try await app.signIn(as: "ada", credentials: credentials)
        #expect(try session.repositories.outbox(of: .search) !== session.outbox)
        #expect(try session.repositories.outbox(of: .standard) === session.outbox)
        #expect(try await session.deliver(within: .seconds(9)) == 0)
        for (upstream, body) in [(source, #"{"text":"Main"}"#), (search, #"{"text":"Search"}"#)] {
            #expect(upstream.requests.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) } == [body])
        }
        #expect(search.tokens == ["Bearer found"])
        try await app.close()
    }

    @Test func writesToAllUpstreamsAreDeliveredWithoutASignIn() async throws {
        try await leaveWrites()
        let app = try await app()
        #expect(try await app.outboxes().map(\.upstream) == [.standard, .search])
        #expect(try await app.outboxes().map(\.status.pendingCount) == [1, 1])
        let outcomes = try await app.deliverPendingWrites { _ in credentials }
        #expect(outcomes.map(\.ending) == [.done])
        #expect([source.tokens, search.tokens] == [["Bearer main"], ["Bearer found"]])
        #expect(try await app.outboxes().isEmpty)
        try await app.close()
    }

    @Test func unreachableUpstreamDoesNotDelayOthers() async throws {
        try await leaveWrites()
        let (api, other) = (
            UpstreamProtection("api", by: .standard), UpstreamProtection("search", by: try UpstreamPolicy(attempts: 1))
        )
        let app = try await app(asking: StubDataFetcher(failing: .interrupted).protecting(by: other))
        let session = try await app.signIn(as: "ada", credentials: credentials, pendingWrites: .show)
        for id in 0..<20 { _ = try? await session.repository(.notes.at(.search)).entity(id) }
        guard case .open = other.circuitBreaker.state else {
            Issue.record("The circuit of the offline upstream is \(other.circuitBreaker.state).")
            return
        }
        #expect(api.circuitBreaker.state == .closed)
        #expect(try await session.repository(.notes).entity(7).value.text == "Seven")
        try await app.close()
    }
}
