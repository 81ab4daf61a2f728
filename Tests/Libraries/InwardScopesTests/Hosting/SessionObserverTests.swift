import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing

@testable import InwardScopes

/// The calls to the observers of an app.
@Suite(.timeLimit(.minutes(5)))
struct SessionObserverTests {
    /// Records its calls in a journal.
    private struct Recorder: SessionObserver {
        let journal: Journal

        func sessionOpened(_ user: String, after duration: Duration) { journal.add("\(user) opened after \(duration)") }
        func sessionClosed(_ user: String, after duration: Duration) { journal.add("\(user) closed after \(duration)") }
        func sessionExpired(_ user: String) { journal.add("\(user) expired") }
        func sessionEvicted(_ user: String) { journal.add("\(user) evicted") }
        func sessionRejected(_ user: String) { journal.add("\(user) rejected") }
    }

    private let source = NoteUpstream()
    private let clock = ManualClock()
    private let journal = Journal()

    private func configuration(store: (any RecordStore)? = nil) throws -> AppScopeConfiguration {
        let upstream = Upstream(baseURL: try #require(URL(string: "https://upstream.test")), dataFetcher: source)
        var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.notes)])
        configuration.clock = clock
        configuration.observers.sessions = Recorder(journal: journal)
        return configuration
    }

    @Test func observerIsNotifiedWhenASessionOpensAndCloses() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada") { [clock] opening, _ in
            clock.advance(by: .seconds(2))
            _ = opening.closing(0, as: "own") { [journal] _ in journal.add("its objects are closed") }
        }
        clock.advance(by: .seconds(30))
        try await session.close()
        try await session.close()
        #expect(
            journal.entries == [
                "ada opened after 2.0 seconds", "its objects are closed", "ada closed after 30.0 seconds",
            ]
        )
        try await app.close()
    }

    @Test func observerIsNotNotifiedOfASessionThatFailsToOpen() async throws {
        let app = await AppScope("notes", try configuration())
        await #expect(throws: ScopeError.self) {
            _ = try await app.signIn(as: "ada") { _, _ in throw ScopeError(closed: "mail") }
        }
        try await app.close()
        #expect(journal.entries == [])
    }

    @Test func observerIsNotifiedOfEvictionsAndRejections() async throws {
        let app = await AppScope("notes", try configuration())
        let sessions = try await app.sessionRegistry(SessionLimits(count: 1))
        _ = try await sessions.session(of: "ada")
        try await sessions.withSession(of: "bob") { _ in
            await #expect(throws: SessionRegistryError.self) { _ = try await sessions.session(of: "eve") }
            return ()
        }
        try await app.close()
        #expect(
            journal.entries == [
                "ada opened after 0.0 seconds", "ada evicted", "ada closed after 0.0 seconds",
                "bob opened after 0.0 seconds", "eve rejected", "bob closed after 0.0 seconds",
            ]
        )
    }

    @Test func observerIsNotifiedOfExpiry() async throws {
        let app = await AppScope("notes", try configuration())
        let sessions = try await app.sessionRegistry(SessionLimits(idleTime: .seconds(60)))
        let session = try await sessions.session(of: "ada")
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        // The session is already closing because it expired. Signing out waits until it is closed.
        while session.isOpen { await Task.yield() }
        await sessions.signOut("ada")
        #expect(
            journal.entries == ["ada opened after 0.0 seconds", "ada expired", "ada closed after 60.0 seconds"]
        )
        try await app.close()
    }

    @Test func observersAreNotifiedOfRequestsAndRepositories() async throws {
        let (fetching, repositories) = (RecordingFetchObserver(), RecordingRepositoryObserver())
        var configuration = try configuration(store: InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) }))
        configuration.observers.fetching = fetching
        configuration.observers.repositories = repositories
        let app = await AppScope("notes", configuration)
        let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer("token")))
        let notes = try session.repository(.notes)
        _ = try await notes.entity(7)
        _ = try await session.repository(.board).entity(7)
        _ = try await notes.create(NoteDraft(text: "Eight"))
        let outbox = try #require(try session.outbox)
        #expect(await outbox.drain() == 0)
        try await app.close()
        let recorded = repositories.descriptions
        // The session's repository, and the one that all sessions share.
        #expect(recorded.filter { $0 == "entity of notes ended: upstream, after 0.0 seconds" }.count == 2)
        #expect(recorded.contains("delivery of notes ended: delivered, after 0.0 seconds"))
        #expect(recorded.last == "outbox: closed")
        #expect(recorded.contains("store: commit of 1 ended after 0.0 seconds"))
        #expect(fetching.descriptions.filter { $0.contains("ended with 200") }.count >= 4)
    }
}
