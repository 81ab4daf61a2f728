import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import TestSupport
import Testing

/// Delivery of the writes of users who are not signed in.
@Suite(.timeLimit(.minutes(5)))
struct AbsentUsersTests {
    private let source = NoteUpstream()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let errors = RecordingErrorHandler()
    private let clock = ManualClock()

    /// Opens the app of a new process. With its policy, writes that failed in an earlier process are due immediately.
    private func app(
        asking dataFetcher: (any DataFetcher)? = nil,
        store: (any RecordStore)? = nil,
        policy: OutboxPolicy = OutboxPolicy(initialWait: .zero)
    ) async throws -> AppScope<Void> {
        let upstream = Upstream(
            baseURL: try #require(URL(string: "https://upstream.test")),
            dataFetcher: dataFetcher ?? source
        )
        var configuration = AppScopeConfiguration(
            upstream,
            store: store ?? self.store,
            endpoints: [AnyEndpoint(.notes)]
        )
        configuration.errorHandler = errors
        configuration.clock = clock
        configuration.outboxPolicy = policy
        return await AppScope("notes", configuration)
    }

    /// Writes a note for each user while the upstream is offline, in a process that then ends.
    private func leaveWrites(of users: [String], guests: [String] = []) async throws {
        source.goOffline()
        let app = try await app()
        for user in users {
            let session = try await app.signIn(as: user, credentials: .fixed(.bearer("old")))
            _ = try await session.repository(.notes).create(NoteDraft(text: "By \(user)"))
        }
        for guest in guests {
            _ = try await app.signIn(as: guest).repository(.notes).create(NoteDraft(text: "By \(guest)"))
        }
        try await app.close()
        source.goOffline(false)
    }

    private func token(of user: String) -> SessionCredentials { .fixed(.bearer(user)) }

    @Test func writesAreDeliveredWithoutASignIn() async throws {
        try await leaveWrites(of: ["ada", "bob", "cyd"], guests: ["kiosk"])
        let app = try await app()
        let outcomes = try await app.deliverPendingWrites(as: token)
        #expect(outcomes.map(\.user) == ["kiosk", "ada", "bob", "cyd"])
        #expect(outcomes.allSatisfy { $0.ending == .done })
        #expect(outcomes.map(\.isGuest) == [true, false, false, false])
        #expect(Set(source.tokens) == [nil, "Bearer ada", "Bearer bob", "Bearer cyd"])
        #expect(source.requests.count == 4)
        #expect(try await app.outboxes().isEmpty)
        #expect(try await app.deliverPendingWrites(as: token).isEmpty)
        try await app.close()
    }

    @Test(arguments: [0, 1, 2, 100])
    func writesAreDeliveredForAnyNumberOfUsersAtATime(usersAtATime: Int) async throws {
        let users = (0..<9).map { "user\($0)" }
        try await leaveWrites(of: users)
        let app = try await app()
        let outcomes = try await app.deliverPendingWrites(usersAtATime: usersAtATime, as: token)
        #expect(outcomes.map(\.user) == users)
        #expect(source.requests.count == 9)
        try await app.close()
    }

    @Test func outboxesListPendingWritesOfEachUser() async throws {
        try await leaveWrites(of: ["ada"], guests: ["kiosk"])
        let app = try await app()
        let outboxes = try await app.outboxes()
        #expect(outboxes.map(\.user) == ["kiosk", "ada"])
        #expect(outboxes.map(\.status.pendingCount) == [1, 1])
        #expect(outboxes.allSatisfy { $0.status.oldestAcceptedAt != nil && $0.status.deadLetterCount == 0 })
        try await app.close()
    }

    @Test func userWithoutCredentialsIsSkipped() async throws {
        try await leaveWrites(of: ["ada", "bob"])
        let app = try await app()
        let outcomes = try await app.deliverPendingWrites { $0 == "bob" ? token(of: "bob") : nil }
        #expect(outcomes.map(\.ending) == [.passedOver, .done])
        #expect(try await app.outboxes().map(\.user) == ["ada"])
        // A guest with the same name is another user.
        #expect(try await app.deliverPendingWrites { _ in SessionCredentials.none }.map(\.ending) == [.passedOver])
        try await app.close()
    }

    @Test func userWithRefusedCredentialsDoesNotDelayOthers() async throws {
        try await leaveWrites(of: ["ada", "bob"])
        let app = try await app()
        let outcomes = try await app.deliverPendingWrites(usersAtATime: 1) {
            $0 == "bob" ? token(of: "bob") : .refreshing { nil }
        }
        #expect(outcomes.map(\.ending) == [.failed, .done])
        #expect(errors.errors.contains { $0 is SignedOutError })
        #expect(try await app.outboxes().map(\.user) == ["ada"])
        try await app.close()
    }

    @Test func deliverySharesTheOutboxOfASignedInUser() async throws {
        try await leaveWrites(of: ["ada"])
        let app = try await app()
        let session = try await app.signIn(as: "ada", credentials: token(of: "ada"), pendingWrites: .show)
        #expect(try await app.deliverPendingWrites(as: token).map(\.ending) == [.done])
        #expect(try session.outbox?.pending == [])
        #expect(source.requests.count == 1)
        #expect(try await session.repository(.notes).entity(7).value.text == "Seven")
        try await app.close()
    }

    @Test func outboxOwnedByAnotherProcessIsSkipped() async throws {
        try await leaveWrites(of: ["ada"])
        let claim = try await store.claim(["outboxes", "upstreams", "https://upstream.test", "users", "ada", "owner"])
        let app = try await app()
        guard case .owned = try await app.deliverPendingWrites(as: token).first?.ending else {
            Issue.record("The outcome does not say that another process owns the outbox.")
            return
        }
        #expect(source.requests.isEmpty)
        guard case .claimed(let claim) = claim else { return }
        await claim.release()
        #expect(try await app.deliverPendingWrites(as: token).map(\.ending) == [.done])
        try await app.close()
    }

    @Test func writesDueAfterTheLimitAreNotAwaited() async throws {
        source.goOffline()
        let first = try await app(policy: OutboxPolicy(initialWait: .seconds(3_600), jitter: Jitter { 1 }))
        let session = try await first.signIn(as: "ada", credentials: token(of: "ada"))
        _ = try await session.repository(.notes).create(NoteDraft(text: "New"))
        while try await session.outbox?.contents().pending.first?.nextAttempt == nil { await Task.yield() }
        try await first.close()
        source.goOffline(false)
        let second = try await app()
        #expect(try await second.deliverPendingWrites(within: .seconds(60), as: token).map(\.ending) == [.waiting(1)])
        #expect(source.requests.isEmpty)
        try await second.close()
    }

    @Test func writesNotDeliveredWithinTheLimitStayPending() async throws {
        try await leaveWrites(of: ["ada"])
        let app = try await app()
        #expect(try await app.deliverPendingWrites(within: .zero, as: token).map(\.ending) == [.waiting(1)])
        try await app.close()
    }

    @Test func deliveryThrowsIfTheStoreIsUnreadable() async throws {
        let app = try await app(store: BrokenRecordStore())
        await #expect(throws: RecordStoreError.self) { try await app.deliverPendingWrites(as: token) }
        await #expect(throws: RecordStoreError.self) { try await app.outboxes() }
        try await app.close()
        await #expect(throws: ScopeError.self) { try await app.deliverPendingWrites(as: token) }
    }

    @Test func appThatIsShuttingDownStartsNoDelivery() async throws {
        try await leaveWrites(of: ["ada"])
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow)
        let notes = try await app.signIn(as: "bob").repository(.notes)
        async let reading = notes.entity(7)
        await slow.hasBegun()
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        await #expect(throws: ScopeError.self) { try await app.deliverPendingWrites(as: token) }
        slow.gate.open()
        _ = try await reading
        _ = await shuttingDown.value
        #expect(source.requests.allSatisfy { $0.method == .get })
    }

    // MARK: Repeated delivery

    @Test func laterWritesAreDeliveredInALaterRound() async throws {
        let app = try await app()
        let delivering = Task { try await app.keepDelivering(every: .seconds(60), as: token) }
        await clock.sleepers(1)
        try await leaveWrites(of: ["ada"])
        clock.advance(by: .seconds(60))
        while source.requests.isEmpty { await Task.yield() }
        delivering.cancel()
        await #expect(throws: CancellationError.self) { try await delivering.value }
        #expect(source.tokens == ["Bearer ada"])
        try await app.close()
    }

    @Test func roundsEndWhenTheAppCloses() async throws {
        let app = try await app()
        let delivering = Task { try await app.keepDelivering(every: .seconds(3_600), as: token) }
        await clock.sleepers(1)
        try await app.close()
        try await delivering.value
    }

    @Test func unreadableStoreIsReportedAndTriedAgain() async throws {
        let app = try await app(store: BrokenRecordStore())
        let delivering = Task { try await app.keepDelivering(every: .seconds(60), as: token) }
        for round in 1...3 {
            await clock.sleepers(1)
            #expect(errors.errors.count == round)
            clock.advance(by: .seconds(60))
        }
        delivering.cancel()
        try? await delivering.value
        try await app.close()
    }
}
