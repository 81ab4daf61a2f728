import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardScopes

@Suite(.timeLimit(.minutes(5)))
struct SessionRegistryTests {
    private let source = NoteUpstream()
    private let errors = RecordingErrorHandler()
    private let clock = ManualClock()
    private let journal = Journal()

    private func app(
        asking dataFetcher: (any DataFetcher)? = nil,
        store: (any RecordStore)? = nil
    ) async throws -> AppScope<Void> {
        let url = try #require(URL(string: "https://upstream.test"))
        let upstream = Upstream(baseURL: url, dataFetcher: dataFetcher ?? source)
        var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.notes)])
        configuration.errorHandler = errors
        configuration.clock = clock
        return await AppScope("notes", configuration)
    }

    /// Returns a registry that records in the journal which sessions it opens and closes.
    private func registry(in app: AppScope<Void>, _ limits: SessionLimits = SessionLimits()) async throws
        -> SessionRegistry<Void>
    {
        try await app.sessionRegistry(limits) { [journal] user, opening, _ in
            journal.add("\(user) opens")
            _ = opening.closing(user, as: "journal") { journal.add("\($0) closes") }
        }
    }

    // MARK: Opening

    @Test func concurrentCallersShareTheSessionOfAUser() async throws {
        let app = try await app()
        let sessions = try await registry(in: app)
        let scopes = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { ObjectIdentifier(try await sessions.session(of: "ada").scope) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(scopes.count == 1)
        #expect(journal.entries == ["ada opens"])
        try await app.close()
    }

    @Test func sessionSendsTheCredentialsThatItWasOpenedWith() async throws {
        let app = try await app()
        let sessions = try await registry(in: app)
        for token in ["first", "second"] {
            try await sessions.withSession(of: "ada", credentials: .fixed(.bearer(token))) { session in
                _ = try await session.repository(.notes).entity(7, .upstreamOnly)
            }
        }
        #expect(source.tokens == ["Bearer first", "Bearer first"])
        try await app.close()
    }

    @Test func guestDoesNotGetTheSessionOfTheUserWithTheSameName() async throws {
        let app = try await app()
        let sessions = try await registry(in: app)
        let user = try await sessions.session(of: "ada", credentials: .fixed(.bearer("secret")))
        let guest = try await sessions.session(of: "ada")
        #expect(user.scope !== guest.scope)
        _ = try await guest.repository(.notes).entity(7)
        #expect(source.tokens == [nil])
        await sessions.signOut("ada", key: nil)
        #expect(!user.isOpen && !guest.isOpen)
        try await app.close()
    }

    @Test func keyDistinguishesTheSessionsOfAUser() async throws {
        let app = try await app()
        let sessions = try await registry(in: app)
        let phone = try await sessions.session(of: "ada", key: "phone")
        let laptop = try await sessions.session(of: "ada", key: "laptop")
        #expect(phone.scope !== laptop.scope)
        #expect(try await sessions.session(of: "ada", key: "phone").scope === phone.scope)
        await sessions.signOut("ada", key: "phone")
        #expect(!phone.isOpen)
        #expect(laptop.isOpen)
        await sessions.signOut("ada")
        #expect(!laptop.isOpen)
        try await app.close()
    }

    @Test func cancelledOrLateCallerDoesNotAffectOtherCallers() async throws {
        let (app, gate) = (try await app(), Gate())
        let timer = TimerService(clock)
        let sessions = try await app.sessionRegistry { _, _, _ in _ = await gate.pass() }
        let cancelled = Task.waiting { await sessions.answer("ada") }
        let late = Task.waiting {
            await Deadline(in: .seconds(1), on: timer).carried { () async throws(SessionRegistryError) in
                try await sessions.session(of: "ada")
            }
        }
        let patient = Task.waiting { await sessions.answer("ada") }
        cancelled.cancel()
        #expect(await cancelled.value.failure?.reason == .cancelled)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(await late.value.failure?.reason == .deadlinePassed)
        gate.open()
        let session = try await patient.value.get()
        #expect(session.isOpen)
        #expect(sessions.status.opened == 1)
        try await app.close()
    }

    @Test func failureToOpenASessionIsNotCached() async throws {
        let (app, attempts) = (try await app(), Counter())
        let sessions = try await app.sessionRegistry(SessionLimits(count: 1)) { _, _, _ in
            if attempts.add() == 1 { throw ScopeError(closed: "mail") }
        }
        let error = await #expect(throws: SessionRegistryError.self) { try await sessions.session(of: "ada") }
        #expect(error?.description == "session ada was not opened: mail is closed")
        #expect(sessions.status.openingCount == 0)
        #expect(try await sessions.session(of: "ada").isOpen)
        try await app.close()
    }

    @Test func sessionHasTheMemoryLimitOfTheRegistry() async throws {
        let app = try await app()
        let sessions = try await registry(in: app, SessionLimits(memory: .nothing))
        for _ in 0..<2 { _ = try await sessions.session(of: "ada").repository(.archive).entity(7) }
        // The app's response cache answers, not the repository's memory.
        let reading = try await sessions.session(of: "ada").repository(.archive).entity(7)
        #expect(reading.origin != .memory)
        try await app.close()
    }

    // MARK: The limit

    @Test func leastRecentlyUsedSessionIsEvictedAtTheLimit() async throws {
        let app = try await app()
        let sessions = try await registry(in: app, SessionLimits(count: 2))
        for user in ["ada", "bob", "ada", "eve"] { _ = try await sessions.session(of: user) }
        #expect(journal.entries == ["ada opens", "bob opens", "bob closes", "eve opens"])
        #expect(sessions.status.evicted == 1)
        try await app.close()
    }

    @Test func sessionInUseIsNotEvicted() async throws {
        let app = try await app()
        let sessions = try await registry(in: app, SessionLimits(count: 2))
        try await sessions.withSession(of: "ada") { ada in
            for user in ["bob", "eve"] { _ = try await sessions.session(of: user) }
            #expect(ada.isOpen)
            #expect(sessions.status.inUseCount == 1)
        }
        #expect(journal.entries == ["ada opens", "bob opens", "bob closes", "eve opens"])
        try await app.close()
    }

    @Test func callFailsIfAllSessionsAreInUse() async throws {
        let app = try await app()
        let sessions = try await registry(in: app, SessionLimits(count: 1))
        try await sessions.withSession(of: "ada") { _ in
            let error = await #expect(throws: SessionRegistryError.self) { try await sessions.session(of: "bob") }
            #expect(error?.reason == .full)
            #expect(error?.description.contains("raise `SessionLimits.count`") == true)
            #expect(error.map { ProblemDetails($0) } == .unavailable)
        }
        #expect(sessions.status.rejected == 1)
        #expect(try await sessions.session(of: "bob").isOpen)
        try await app.close()
    }

    @Test func sessionWithARequestInFlightIsNotEvicted() async throws {
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow)
        let sessions = try await registry(in: app, SessionLimits(count: 1))
        let session = try await sessions.session(of: "ada")
        async let reading = session.repository(.notes).entity(7)
        await slow.hasBegun()
        #expect(await sessions.answer("bob").failure?.reason == .full)
        slow.gate.open()
        #expect(try await reading.value.text == "Seven")
        #expect(try await sessions.session(of: "bob").isOpen)
        try await app.close()
    }

    @Test func sessionOpensOnlyAfterThePreviousOneIsClosed() async throws {
        let (app, gate, journal) = (try await app(), Gate(), journal)
        let sessions = try await app.sessionRegistry(SessionLimits(count: 1)) { user, opening, _ in
            journal.add("\(user) opens")
            _ = opening.closing(user, as: "journal") { user in
                if user == "ada" { _ = await gate.pass() }
                journal.add("\(user) closes")
            }
        }
        _ = try await sessions.session(of: "ada")
        let bob = Task.waiting { await sessions.answer("bob") }
        #expect(sessions.status.closingCount == 1)
        #expect(sessions.status.openingCount == 1)
        // No slot is free, because another session is already opening.
        #expect(await sessions.answer("eve").failure?.reason == .full)
        gate.open()
        #expect(try await bob.value.get().isOpen)
        #expect(journal.entries == ["ada opens", "ada closes", "bob opens"])
        try await app.close()
    }

    // MARK: The idle time

    /// Returns a registry with an idle time of a minute that opens the gate of a user whose session is closed.
    private func registry(in app: AppScope<Void>, opening gates: [String: Gate]) async throws -> SessionRegistry<Void> {
        try await app.sessionRegistry(SessionLimits(idleTime: .seconds(60))) { user, opening, _ in
            _ = opening.closing(user, as: "gate") { gates[$0]?.open() }
        }
    }

    @Test func unusedSessionIsClosedAfterTheIdleTime() async throws {
        let (app, gate) = (try await app(), Gate())
        let sessions = try await registry(in: app, opening: ["ada": gate])
        let ada = try await sessions.session(of: "ada")
        await clock.sleepers(1)
        clock.advance(by: .seconds(59))
        let bob = try await sessions.session(of: "bob")
        clock.advance(by: .seconds(1))
        _ = await gate.pass()
        // Waits until the session is closed.
        await sessions.signOut("ada")
        #expect(!ada.isOpen)
        #expect(bob.isOpen)
        #expect(sessions.status.openCount == 1)
        #expect(sessions.status.expired == 1)
        #expect(try await sessions.session(of: "ada").isOpen)
        #expect(errors.errors.isEmpty)
        try await app.close()
    }

    @Test func sessionInUseDoesNotExpire() async throws {
        let (app, gate) = (try await app(), Gate())
        let sessions = try await registry(in: app, opening: ["bob": gate])
        try await sessions.withSession(of: "ada") { ada in
            _ = try await sessions.session(of: "bob")
            await clock.sleepers(1)
            clock.advance(by: .seconds(60))
            _ = await gate.pass()
            #expect(ada.isOpen)
            #expect(sessions.status.inUseCount == 1)
        }
        try await app.close()
    }

    @Test func idleTimeRestartsAfterEachUseAndWhileARequestIsInFlight() async throws {
        let (slow, gate) = (GatedDataFetcher(source), Gate())
        let app = try await app(asking: slow)
        let sessions = try await registry(in: app, opening: ["ada": gate])
        let session = try await sessions.session(of: "ada")
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        _ = try await sessions.session(of: "ada")
        clock.advance(by: .seconds(30))
        // The alarm of the first use fired early, and is set again.
        await clock.sleepers(1)
        #expect(session.isOpen)
        async let reading = session.repository(.archive).entity(7)
        await slow.hasBegun()
        clock.advance(by: .seconds(30))
        // The session would expire now, but it has a request in flight.
        await clock.sleepers(1)
        #expect(session.isOpen)
        slow.gate.open()
        _ = try await reading
        clock.advance(by: .seconds(60))
        _ = await gate.pass()
        #expect(!session.isOpen)
        try await app.close()
    }

    // MARK: Closing

    @Test func signingOutClosesASessionThatIsOpening() async throws {
        let (app, gate, journal) = (try await app(), Gate(), journal)
        let sessions = try await app.sessionRegistry { user, opening, _ in
            _ = opening.closing(user, as: "journal") { journal.add("\($0) closes") }
            _ = await gate.pass()
        }
        let asking = Task.waiting { await sessions.answer("ada") }
        let signingOut = Task.waiting { await sessions.signOut("ada") }
        gate.open()
        await signingOut.value
        #expect(await asking.value.failure?.reason == .closed)
        #expect(journal.entries == ["ada closes"])
        #expect(sessions.status.openCount == 0)
        #expect(try await sessions.session(of: "ada").isOpen)
        try await app.close()
    }

    @Test func sessionClosedByACallerIsReplaced() async throws {
        let app = try await app()
        let sessions = try await registry(in: app, SessionLimits(count: 1))
        let first = try await sessions.session(of: "ada")
        try await first.close()
        let second = try await sessions.session(of: "ada")
        #expect(second.isOpen)
        #expect(second.scope !== first.scope)
        #expect(sessions.status.openCount == 1)
        try await app.close()
    }

    @Test func failureToCloseASessionReachesTheErrorHandler() async throws {
        let app = try await app()
        let sessions = try await app.sessionRegistry { user, opening, _ in
            _ = opening.closing(user, as: "drafts") { _ in throw ExampleError("The disk is full") }
        }
        _ = try await sessions.session(of: "ada")
        await sessions.signOut("ada")
        #expect(errors.errors.map { "\($0)" } == ["session ada > drafts failed to close: The disk is full."])
        try await app.close()
    }

    @Test func closingTheAppClosesTheRegistryAndItsSessions() async throws {
        let app = try await app()
        let sessions = try await registry(in: app)
        for user in ["ada", "bob"] { _ = try await sessions.session(of: user) }
        try await app.close()
        #expect(Set(journal.entries) == ["ada opens", "bob opens", "ada closes", "bob closes"])
        #expect(await sessions.answer("ada").failure?.reason == .closed)
        #expect(sessions.status.openCount == 0)
    }

    @Test func closingTheRegistryWaitsForWorkAndClosesAllSessions() async throws {
        let (app, gate, journal) = (try await app(), Gate(), journal)
        let sessions = try await registry(in: app)
        let work = Task.waiting {
            await Result(awaiting: { () async throws in
                try await sessions.withSession(of: "ada") { session in
                    _ = await gate.pass()
                    journal.add(session.isOpen ? "work with an open session" : "work with a closed session")
                }
            })
        }
        // The session is still open when another caller gets it.
        _ = try await sessions.session(of: "ada")
        let closing = Task.waiting {
            await Result(awaiting: { () async throws(ScopeCloseError) in try await sessions.close() })
        }
        #expect(await sessions.answer("bob").failure?.reason == .closed)
        gate.open()
        try await work.value.get()
        try await closing.value.get()
        #expect(journal.entries == ["ada opens", "work with an open session", "ada closes"])
        #expect(app.isOpen)
        try await app.close()
    }

    @Test func tenThousandUnusedSessionsAreReleased() async throws {
        let (app, census) = (try await app(), Census())
        let sessions = try await app.sessionRegistry(SessionLimits(count: 100)) { _, _, _ in Census.Canary(census) }
        try await withThrowingTaskGroup { group in
            for walker in 0..<10 {
                group.addTask {
                    for number in 0..<1_000 { _ = try await sessions.session(of: "user \(walker).\(number)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(sessions.status.opened == 10_000)
        #expect(sessions.status.openCount == 100)
        #expect(census.now == 100)
        #expect(census.most == 100)
        try await sessions.close()
        #expect(census.now == 0)
        try await app.close()
    }
}

extension SessionRegistry {
    /// Returns the session of a user, or the error.
    fileprivate func answer(_ user: String) async -> Result<SessionScope<Own>, SessionRegistryError> {
        await Result(awaiting: { () async throws(SessionRegistryError) in try await self.session(of: user) })
    }
}

/// The number of objects that exist, and its maximum so far.
private final class Census: Sendable {
    /// An object that is counted while it exists.
    final class Canary: Sendable {
        private let census: Census

        init(_ census: Census) {
            self.census = census
            census.count(1)
        }

        deinit { census.count(-1) }
    }

    private let counts = Mutex((now: 0, most: 0))

    var now: Int { counts.withLock(\.now) }
    var most: Int { counts.withLock(\.most) }

    private func count(_ change: Int) {
        counts.withLock { counts in
            counts.now += change
            counts.most = max(counts.most, counts.now)
        }
    }
}
