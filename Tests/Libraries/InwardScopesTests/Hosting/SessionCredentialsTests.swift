import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SessionCredentialsTests {
    private let source = NoteUpstream()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let errors = RecordingErrorHandler()
    private let clock = ManualClock()

    private func app(store: (any RecordStore)? = nil) async throws -> AppScope<Void> {
        let upstream = Upstream(baseURL: try #require(URL(string: "https://upstream.test")), dataFetcher: source)
        var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.notes)])
        configuration.errorHandler = errors
        configuration.clock = clock
        return await AppScope("notes", configuration)
    }

    @Test func expiredTokenIsRenewedDuringARequest() async throws {
        let app = try await app()
        let (count, source) = (Counter(), source)
        let credentials = SessionCredentials.refreshing(atMostEvery: .zero) { .bearer("token-\(count.add())") }
        let notes = try await app.signIn(as: "ada", credentials: credentials).repository(.notes)
        _ = try await notes.entity(7)
        source.reject("token-1")
        #expect(try await notes.entity(7, .upstreamOnly).value.text == "Seven")
        #expect(source.tokens == ["Bearer token-1", "Bearer token-1", "Bearer token-2"])
        try await app.close()
    }

    @Test func errorSaysWhyCredentialsCannotBeRenewed() async throws {
        struct NoTokens: Error, CustomStringConvertible { let description = "the token service is on holiday" }
        let app = try await app()
        let session = try await app.signIn(as: "ada", credentials: .refreshing { throw NoTokens() })
        let notes = try session.repository(.notes)
        let error = await #expect(throws: RepositoryError.self) { try await notes.entity(7) }
        #expect(error?.explanation.contains("the token service is on holiday") == true)
        #expect(error?.reason == .unavailable)
        #expect(errors.errors.contains { $0 is NoTokens })
        #expect(source.requests.isEmpty)
        try await app.close()
    }

    @Test func writesWaitingForCredentialsAreSentAfterTheRenewal() async throws {
        let app = try await app(store: store)
        let (count, source) = (Counter(), source)
        let credentials = SessionCredentials.refreshing(atMostEvery: .zero) { .bearer("token-\(count.add())") }
        for token in ["token-1", "token-2"] { source.reject(token) }
        let session = try await app.signIn(as: "ada", credentials: credentials)
        let notes = try session.repository(.notes)
        _ = try await notes.create(NoteDraft(text: "New"))
        while source.tokens.count < 2 { await Task.yield() }
        // The write was rejected twice and waits. A read is accepted with the third token, and then the write is sent.
        _ = try await notes.entity(7, .upstreamOnly)
        try await session.outbox?.drain()
        #expect(source.requests.last { $0.method == .post }?.headerFields[.authorization] == "Bearer token-3")
        try await app.close()
    }

    @Test func tokenIsRenewedBeforeItExpires() async throws {
        let app = try await app()
        let count = Counter()
        let renewed = Promise<Void>()
        let credentials = SessionCredentials.refreshing {
            if count.add() == 2 { renewed.fulfill(()) }
            return .bearer("token-\(count.value)", expiresIn: .seconds(600))
        }
        let notes = try await app.signIn(as: "ada", credentials: credentials).repository(.notes)
        _ = try await notes.entity(7)
        clock.advance(by: .seconds(580))
        _ = try await notes.entity(7, .upstreamOnly)
        _ = await renewed.value()
        #expect(source.tokens == ["Bearer token-1", "Bearer token-1"])
        try await app.close()
    }

    @Test func sessionWhoseCredentialsCannotBeRenewedIsSignedOut() async throws {
        let app = try await app(store: store)
        let session = try await app.signIn(as: "ada", credentials: .refreshing { nil })
        let notes = try session.repository(.notes)
        let error = await #expect(throws: RepositoryError.self) { try await notes.entity(7) }
        #expect(error?.reason == .denied)
        #expect(error?.explanation.contains("Sign in again") == true)
        #expect(!session.isOpen)
        #expect(errors.errors.map { ($0 as? SignedOutError)?.session } == ["session ada"])
        try await session.close()
        #expect(source.requests.isEmpty)
        // The user can sign in again.
        let next = try await app.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        #expect(try await next.repository(.notes).entity(7).value.text == "Seven")
        try await app.close()
    }

    /// No caller waits for such a session to close, so only the error handler can receive its failures.
    @Test func failureToCloseASignedOutSessionIsReported() async throws {
        let (app, clock, isClosing) = (try await app(), clock, Promise<Void>())
        let session = try await app.signIn(as: "ada", credentials: .refreshing { nil }) { opening, _ in
            _ = opening.closing(0, as: "own") { _ in
                isClosing.fulfill(())
                // Sleeps until the limit cancels it.
                _ = await Promise<Void>().value()
            }
        }
        let notes = try session.repository(.notes)
        await #expect(throws: RepositoryError.self) { try await notes.entity(7) }
        _ = await isClosing.value()
        await clock.sleepers(1)
        clock.advance(by: .seconds(3_600))
        let failure = await #expect(throws: ScopeCloseError.self) { try await session.close() }
        while errors.errors.count < 2 { await Task.yield() }
        #expect(errors.errors.first is SignedOutError)
        let handled = try #require(errors.errors.last as? ScopeCloseError)
        #expect(handled.description == failure?.description && handled.description.contains("own"))
        try await app.close()
    }

    @Test func pendingWritesWaitForTheNextSessionAfterRefusedCredentials() async throws {
        let app = try await app(store: store)
        let session = try await app.signIn(as: "ada", credentials: .refreshing { nil })
        _ = try await session.repository(.notes).create(NoteDraft(text: "New"))
        while session.isOpen { await Task.yield() }
        try await session.close()
        let next = try await app.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        try (next.outbox as? Outbox)?.retryNow()
        try await next.outbox?.drain()
        #expect(source.requests.map(\.method) == [.post])
        #expect(source.tokens == ["Bearer ada"])
        try await app.close()
    }

    @Test func tokenEndpointErrorIsNotMistakenForAnUpstreamError() async throws {
        let app = try await app(store: store)
        let count = Counter()
        let endpoint = DataRequest(method: .post, url: try #require(URL(string: "https://auth.test/token")))
        let credentials = SessionCredentials.refreshing(atMostEvery: .zero) {
            guard count.add() > 2 else { throw FetchError(DataResponse(status: .notFound), to: endpoint) }
            return .bearer("ada")
        }
        let session = try await app.signIn(as: "ada", credentials: credentials)
        let notes = try session.repository(.notes)
        _ = try await notes.create(NoteDraft(text: "New"))
        while count.value < 1 { await Task.yield() }
        // A 404 of the token endpoint does not mean that the note does not exist.
        let error = await #expect(throws: RepositoryError.self) { try await notes.entity(7, .upstreamOnly) }
        #expect(error?.reason == .unavailable)
        _ = try await notes.entity(7, .upstreamOnly)
        try await session.outbox?.drain()
        #expect(source.requests.filter { $0.method == .post }.count == 1)
        #expect(try await session.outbox?.contents().deadLetters.isEmpty == true)
        try await app.close()
    }

    @Test func guestSessionIsSeparateFromTheUserWithTheSameName() async throws {
        source.goOffline()
        let app = try await app(store: store)
        let guest = try await app.signIn(as: "ada")
        let user = try await app.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        _ = try await user.repository(.notes).create(NoteDraft(text: "Secret"))
        #expect(try guest.outbox !== user.outbox)
        #expect(try guest.outbox?.pending == [])
        try await app.close()
    }

    @Test func olderSessionDeliversWritesThatTheNewestCannot() async throws {
        struct NoTokens: Error {}
        let app = try await app(store: store)
        _ = try await app.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        let newest = try await app.signIn(as: "ada", credentials: .refreshing { throw NoTokens() })
        _ = try await newest.repository(.notes).create(NoteDraft(text: "New"))
        try await newest.outbox?.drain()
        #expect(source.tokens == ["Bearer ada"])
        try await app.close()
    }

    @Test func renewalIsCancelledWhenItsSessionCloses() async throws {
        let app = try await app()
        let (isBegun, isCancelled) = (Promise<Void>(), Promise<Bool>())
        let credentials = SessionCredentials.refreshing {
            isBegun.fulfill(())
            // Ends when the task is cancelled.
            _ = await Promise<Void>().value()
            isCancelled.fulfill(Task.isCancelled)
            return nil
        }
        let session = try await app.signIn(as: "ada", credentials: credentials)
        let notes = try session.repository(.notes)
        let reading = Task { try await notes.entity(7) }
        _ = await isBegun.value()
        try await session.close()
        guard case .fulfilled(true) = await isCancelled.value() else {
            Issue.record("The renewal was not cancelled.")
            return
        }
        await #expect(throws: RepositoryError.self) { try await reading.value }
        #expect(errors.errors.isEmpty)
        try await app.close()
    }
}
