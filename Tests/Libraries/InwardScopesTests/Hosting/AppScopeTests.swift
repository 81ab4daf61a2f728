import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AppScopeTests {
    private let source = NoteUpstream()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let errors = RecordingErrorHandler()

    private func configuration(
        store: (any RecordStore)? = nil,
        _ endpoints: [AnyEndpoint] = [AnyEndpoint(.notes)]
    ) throws -> AppScopeConfiguration {
        let upstream = Upstream(baseURL: try #require(URL(string: "https://upstream.test")), dataFetcher: source)
        var configuration = AppScopeConfiguration(upstream, store: store, endpoints: endpoints)
        configuration.errorHandler = errors
        configuration.clock = ManualClock()
        return configuration
    }

    // MARK: Repositories

    @Test func endpointHasOneRepositoryPerSession() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada")
        let notes = try session.repository(.notes)
        #expect(try session.repository(.notes) === notes)
        _ = try await notes.entity(7)
        #expect(try await session.repository(.notes).entity(7).origin == .memory)
        #expect(source.requests.count == 1)
        try await app.close()
    }

    @Test func eachSessionHasItsOwnRepositoryAndCredentials() async throws {
        let app = await AppScope("notes", try configuration())
        for user in ["ada", "bob"] {
            let session = try await app.signIn(as: user, credentials: .fixed(.bearer(user)))
            _ = try await session.repository(.notes).entity(7)
        }
        #expect(source.tokens == ["Bearer ada", "Bearer bob"])
        try await app.close()
    }

    @Test func sessionsShareEntitiesForEveryoneAndFetchThemWithoutCredentials() async throws {
        let app = await AppScope("notes", try configuration())
        for user in ["ada", "bob"] {
            let session = try await app.signIn(as: user, credentials: .fixed(.bearer(user)))
            let board = try session.repository(.board)
            #expect(try await board.entity(7).value.text == "Seven")
            #expect(try board === app.repository(.board))
            try await session.close()
        }
        #expect(source.tokens == [nil])
        try await app.close()
    }

    @Test func sessionSeesReadsAndWritesOfTheUsersOtherSession() async throws {
        let app = await AppScope("notes", try configuration(store: store))
        let (one, other) = (try await app.signIn(as: "ada"), try await app.signIn(as: "ada"))
        var changes = try one.repository(.notes).changes(of: 7).makeAsyncIterator()
        #expect(try await changes.next()?.value?.text == "Seven")
        source.put("Elsewhere")
        _ = try await other.repository(.notes).entity(7, .upstreamOnly)
        #expect(try await changes.next()?.value?.text == "Elsewhere")
        try await other.repository(.notes).update(7) { $0.text = "Changed" }
        #expect(try await changes.next()?.value?.text == "Changed")
        try await app.close()
        let error = await #expect(throws: RepositoryError.self) {
            while try await changes.next() != nil {}
        }
        #expect(error?.reason == .closed)
    }

    @Test func appRefusesARepositoryOfEntitiesThatAreNotForEveryone() async throws {
        let app = await AppScope("notes", try configuration())
        let error = #expect(throws: RepositoryError.self) { try app.repository(.archive) }
        #expect(error?.reason == .refused)
        try await app.close()
    }

    @Test func endpointWithWritesMustBeDeclared() async throws {
        let app = await AppScope("notes", try configuration(store: store, []))
        let session = try await app.signIn(as: "ada")
        let error = #expect(throws: RepositoryError.self) { try session.repository(.notes) }
        #expect(error?.reason == .refused)
        #expect(error?.explanation.contains("declare the endpoint") == true)
        try await app.close()
    }

    @Test func writeWithoutAStoreIsSentImmediatelyAndNeedsNoDeclaration() async throws {
        let app = await AppScope("notes", try configuration(store: nil, []))
        let session = try await app.signIn(as: "ada")
        try await session.repository(.notes).update(7) { $0.text = "Changed" }
        #expect(source.requests.map(\.method) == [.get, .put])
        #expect(try session.outbox == nil)
        try await app.close()
    }

    @Test func endpointOfAnotherEntityWithTheSameNameIsRefused() async throws {
        struct Other: Identifiable, Sendable { let id: Int }
        struct OtherDTO: RecordDTO {
            static let listName = "notes"
            init(_ other: Other) {}
            func entity() throws(FieldError) -> Other { Other(id: 1) }
        }
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada")
        _ = try session.repository(.notes)
        let error = #expect(throws: RepositoryError.self) {
            try session.repository(Endpoint(OtherDTO.self, at: "others"))
        }
        #expect(error?.reason == .refused)
        try await app.close()
    }

    @Test func endpointAtAnotherPathWithTheSameNameIsRefused() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada")
        _ = try session.repository(.notes)
        #expect(#expect(throws: RepositoryError.self) { try session.repository(.archive) }?.reason == .refused)
        try await app.close()
    }

    @Test func endpointForEveryoneMustNotHaveWrites() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada")
        let wall = Endpoint(NoteDTO.self, at: "wall", editing: Editing(.put), audience: .everyone)
        for refuse in [{ try session.repository(wall) }, { try app.repository(wall) }] {
            #expect(#expect(throws: RepositoryError.self) { try refuse() }?.reason == .refused)
        }
        try await app.close()
    }

    @Test func repositoriesOfASessionIncludeThoseForEveryone() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada") { $1 }
        #expect(try session.own.repository(.board) === app.repository(.board))
        try await app.close()
    }

    // MARK: Writes

    @Test func nextProcessShowsAndDeliversOfflineWrites() async throws {
        source.goOffline()
        let first = await AppScope("notes", try configuration(store: store))
        let away = try await first.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        let created = try await away.repository(.notes).create(NoteDraft(text: "New"))
        #expect(created.isPending)
        try await away.repository(.notes).update(created.value.id) { $0.text = "Newer" }
        #expect(try await away.deliver(within: .zero) == 2)
        try await first.close()

        source.goOffline(false)
        let second = await AppScope("notes", try configuration(store: store))
        let back = try await second.signIn(as: "ada", credentials: .fixed(.bearer("ada")))
        #expect(back.storeFailure == nil)
        // The app's clock stands still, so an attempt that failed in the first process would never become due.
        try (back.outbox as? Outbox)?.retryNow()
        try await back.outbox?.drain()
        #expect(source.requests.map(\.method) == [.post, .put])
        #expect(source.requests.last?.url.path() == "/notes/101")
        #expect(source.tokens == ["Bearer ada", "Bearer ada"])
        #expect(try await back.deliver(within: .seconds(1)) == 0)
        try await second.close()
        #expect(errors.errors.isEmpty)
    }

    @Test func writeThatASessionOnlyShowsCountsAsPending() async throws {
        source.goOffline()
        let first = await AppScope("notes", try configuration(store: store))
        _ = try await first.signIn(as: "ada").repository(.notes).create(NoteDraft(text: "New"))
        try await first.close()
        let second = await AppScope("notes", try configuration(store: store))
        let session = try await second.signIn(as: "ada", pendingWrites: .show)
        #expect(try await session.deliver(within: .zero) == 1)
        try await second.close()
    }

    @Test func otherUsersNeitherSeeNorDeliverPendingWrites() async throws {
        source.goOffline()
        let app = await AppScope("notes", try configuration(store: store))
        let ada = try await app.signIn(as: "ada")
        _ = try await ada.repository(.notes).create(NoteDraft(text: "New"))
        let bob = try await app.signIn(as: "bob")
        #expect(try bob.outbox?.pending == [])
        #expect(try ada.outbox?.pending.count == 1)
        try await app.close()
    }

    @Test func sessionsOfAUserShareAnOutbox() async throws {
        source.goOffline()
        let app = await AppScope("notes", try configuration(store: store))
        let first = try await app.signIn(as: "ada")
        let second = try await app.signIn(as: "ada")
        let created = try await first.repository(.notes).create(NoteDraft(text: "New")).value
        #expect(try await second.repository(.notes).entity(created.id).value.text == "New")
        try await app.close()
    }

    @Test func closingRepositoriesTwiceLeavesTheOutboxToTheOtherSession() async throws {
        let app = await AppScope("notes", try configuration(store: store))
        let (first, second) = (try await app.signIn(as: "ada") { $1 }, try await app.signIn(as: "ada"))
        try await first.own.close()
        try await first.close()
        _ = try await second.repository(.notes).create(NoteDraft(text: "New"))
        try await second.outbox?.drain()
        #expect(source.requests.map(\.method) == [.post])
        let third = try await app.signIn(as: "ada")
        #expect(try third.outbox === second.outbox)
        try await app.close()
    }

    @Test func sessionReadsDespiteAnUnreadableStore() async throws {
        let broken = BrokenRecordStore()
        let app = await AppScope("notes", try configuration(store: broken))
        let session = try await app.signIn(as: "ada")
        #expect(session.storeFailure?.reason == .unavailable)
        #expect(errors.errors.first as? RecordStoreError == session.storeFailure)
        #expect(try await session.repository(.notes).entity(7).value.text == "Seven")
        try await app.close()
    }

    // MARK: Opening

    @Test func failedSignInReleasesItsShareOfTheOutbox() async throws {
        let app = await AppScope("notes", try configuration(store: store))
        var outbox: (any RepositoryOutbox)?
        await #expect(throws: ExampleError.self) {
            try await app.signIn(as: "ada") { opening, repositories throws(ExampleError) in
                outbox = repositories.outbox
                throw ExampleError("no room")
            }
        }
        let session = try await app.signIn(as: "ada")
        #expect(try outbox != nil && session.outbox !== outbox)
        try await app.close()
    }

    @Test func cleanupFailureIsReported() async throws {
        let app = await AppScope("notes", try configuration())
        await #expect(throws: RepositoryError.self) {
            try await app.signIn(as: "ada") { opening, repositories in
                _ = opening.closing("drafts", as: "drafts") { _ in throw ExampleError("no room") }
                _ = try repositories.repository(
                    Endpoint(NoteDTO.self, at: "wall", editing: Editing(.put), audience: .everyone)
                )
            }
        }
        #expect(errors.errors.map { "\($0)" } == ["drafts failed to close: \(ExampleError("no room"))."])
        try await app.close()
    }

    @Test func sessionDoesNotOpenWhileItsAppCloses() async throws {
        let app = await AppScope("notes", try configuration(store: store))
        let closing = Promise<Task<Void, any Error>>()
        await #expect(throws: ScopeError.self) {
            try await app.signIn(as: "ada") { _, _ in
                closing.fulfill(Task { try await app.close() })
                while app.isOpen { await Task.yield() }
            }
        }
        if case .fulfilled(let task) = await closing.value() { try await task.value }
        #expect(!app.isOpen)
    }

    // MARK: Closing

    @Test func closedSessionRefusesRepositoriesAndReads() async throws {
        let app = await AppScope("notes", try configuration(store: store))
        let session = try await app.signIn(as: "ada")
        let notes = try session.repository(.notes)
        try await session.close()
        #expect(#expect(throws: RepositoryError.self) { try session.repository(.notes) }?.reason == .closed)
        let error = await #expect(throws: RepositoryError.self) { try await notes.entity(7, .upstreamOnly) }
        #expect(error?.reason == .closed)
        #expect(source.requests.isEmpty)
        #expect(app.isOpen)
        try await app.close()
        await #expect(throws: ScopeError.self) { try await app.signIn(as: "ada") }
        #expect(#expect(throws: RepositoryError.self) { try app.repository(.board) }?.reason == .closed)
    }

    @Test func ownObjectsCloseBeforeTheObjectsTheyUse() async throws {
        let journal = Journal()
        let app = await AppScope("notes", try configuration(store: store)) { opening in
            opening.closing("mailer", as: "mailer") { journal.add("\($0) of the app is closed") }
        }
        let session = try await app.signIn(as: "ada") { opening, repositories in
            opening.closing("drafts", as: "drafts") { [weak repositories] drafts in
                let isOpen = (try? repositories?.repository(.notes)) != nil
                journal.add("\(drafts) are closed, and the repositories are \(isOpen ? "open" : "closed")")
            }
        }
        #expect(try app.own == "mailer")
        #expect(try session.own == "drafts")
        try await app.close()
        #expect(journal.entries == ["drafts are closed, and the repositories are open", "mailer of the app is closed"])
        #expect(throws: ScopeError.self) { try session.own }
    }

    @Test func featureAndInteractionNestInASession() async throws {
        let app = await AppScope("notes", try configuration())
        let session = try await app.signIn(as: "ada")
        let feature = try Scope<InwardScopes.FeatureLifetime, Int>("writing", in: session.scope, objects: 1)
        let interaction = try Scope<InwardScopes.InteractionLifetime, Int>("1", in: feature, objects: 2)
        try await session.close()
        #expect(!feature.isOpen)
        #expect(!interaction.isOpen)
        try await app.close()
    }
}
