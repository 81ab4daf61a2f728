import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Synchronization
import TestSupport
import Testing
import UseCases

@testable import Composition

/// Data and writes of a session that outlive the process.
@Suite(.timeLimit(.minutes(5)))
struct UserContainerStoringTests {
    private let records = InMemoryRecordStore()
    private let handler = RecordingErrorHandler()

    private func app(_ source: any DataFetcher, upstream: String? = nil) async throws -> AppContainer {
        let app = try await AppContainer(
            AppConfiguration(upstream: upstream),
            dataFetcher: source,
            recordStore: records,
            clock: ManualClock()
        )
        _ = try app.errorHandler.replace(with: handler)
        return app
    }

    private func session(_ key: String?) -> UserSession {
        UserSession(name: "ada", credentials: .bearer("token of ada"), storeKey: key)
    }

    /// Delivers all pending writes now. Without it, the backoff of an earlier process would never end, because the clock stands
    /// still.
    private func deliverNow(_ user: UserContainer) async throws {
        let outbox = try #require(try user.scope.objects().outbox as? Outbox)
        outbox.retryNow()
        for entry in outbox.pending { try await outbox.settlement(of: entry) }
    }

    private static let silent = StubDataFetcher { request throws(FetchError) in
        throw FetchError(.unreachable, request: request, explanation: "reached nobody")
    }

    private func feed(_ session: UserSession, in app: AppContainer) async throws -> FeedContainer {
        try await FeedContainer(in: UserContainer(session, in: app))
    }

    /// Returns the stored posts of a session; `nil` if there are none.
    private func kept(for user: UserContainer) async throws -> [Post]? {
        try? await user.repository(.posts()).entities(.all, .cacheOnly).value
    }

    @Test func postsReadEarlierAreAvailableInTheNextProcessWithoutAnUpstream() async throws {
        let first = try await app(Source.recording())
        _ = try await feed(session("1"), in: first).makeInteraction().readFeed()
        try await first.close()

        let second = try await app(Self.silent)
        let page = try await feed(session("1"), in: second).makeInteraction().readFeed()
        #expect(page.postsRead.origin == .store)
        #expect(page.total > 0)
        // Sessions with another key, or with none, do not see them.
        for key in ["2", nil] {
            let other = try await feed(session(key), in: second).makeInteraction()
            await #expect(throws: ReadFeedError.self) { try await other.readFeed() }
        }
        try await second.close()
    }

    @Test func nextProcessDeliversAnAcceptedPostOnce() async throws {
        let first = try await app(Source.recording())
        let reader = try await UserContainer(session("1"), in: first)
        _ = try await UsersContainer(in: reader, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        try await first.close()

        // The upstream is down, so the author is checked against the stored user.
        let second = try await app(Self.silent)
        let published = try await feed(session("1"), in: second).makeInteraction()
            .publishPost(title: "New", body: "x", by: User.ID(7))
        #expect(published.isPending)
        try await second.close()

        let source = Source.recording()
        let third = try await app(source)
        let user = try await UserContainer(session("1"), in: third)
        try await deliverNow(user)
        let writes = source.requests.filter { $0.method == .post }
        #expect(writes.count == 1)
        #expect(writes.first?.headerFields[.idempotencyKey] != nil)
        #expect(writes.first?.headerFields[.authorization] == "Bearer token of ada")
        let post = try await user.repository(.posts()).entity(Post.ID(3), .cacheOnly)
        #expect(post.value.title == "New" && !post.isPending)
        #expect(try await !FeedContainer(in: user).makeInteraction().readFeed().postsRead.isPending)
        try await third.close()
    }

    @Test func nextProcessDeliversAWebsiteAndPostAcceptedTogether() async throws {
        let first = try await app(Source.recording())
        let reader = try await UserContainer(session("1"), in: first)
        _ = try await UsersContainer(in: reader, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        try await first.close()

        let second = try await app(Self.silent)
        let offline = try await UserContainer(session("1"), in: second)
        let line = #"{"userId": 7, "title": "Moved", "body": "x", "website": "ada.test"}"#
        let accepted = try await FeedContainer(in: offline).publish(line: Array(line.utf8))
        #expect(accepted.line == "Accepted with the website ada.test of user 7: Moved")
        let profile = try await UsersContainer(in: offline, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        #expect(profile.user.value.website == "ada.test" && profile.user.isPending)
        #expect(try profile.posts.get().value.map(\.title).contains("Moved"))
        try await second.close()

        let source = Source.recording()
        let third = try await app(source)
        try await deliverNow(try await UserContainer(session("1"), in: third))
        try await third.close()
        let writes = source.requests.filter { $0.method != .get }.map { "\($0.method) \($0.url.lastPathComponent)" }
        #expect(writes.sorted() == ["PATCH 7", "POST posts"])
        let patch = try #require(source.requests.first { $0.method == .patch })
        #expect(patch.body.map { String(decoding: $0, as: UTF8.self) } == #"{"website":"ada.test"}"#)
    }

    @Test func closedInteractionCommitsNothing() async throws {
        let app = try await app(Source.recording())
        let user = try await UserContainer(session("1"), in: app)
        let interaction = try await FeedContainer(in: user).makeInteraction()
        let unitOfWork = ScopedUnitOfWork(scope: interaction.scope)
        try await unitOfWork.commit([])
        try await interaction.close()
        let error = await #expect(throws: UnitOfWorkError.self) { try await unitOfWork.commit([]) }
        #expect(error?.reason == .closed)
        // A session without a store cannot accept two changes together.
        let storeless = try await FeedContainer(in: UserContainer(session(nil), in: app)).makeInteraction()
        #expect(try storeless.announceWebsite == nil)
        try await app.close()
    }

    @Test func storedDataOfOneUpstreamIsNotUsedForAnother() async throws {
        let first = try await app(Source.recording(), upstream: "https://one.test/api")
        let reader = try await UserContainer(session("1"), in: first)
        _ = try await UsersContainer(in: reader, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        try await first.close()
        // A post that is accepted for one upstream while it is down waits for that upstream.
        let second = try await app(Self.silent, upstream: "https://one.test/api")
        let published = try await feed(session("1"), in: second).makeInteraction()
            .publishPost(title: "New", body: "x", by: User.ID(7))
        #expect(published.isPending)
        try await second.close()

        let source = Source.recording()
        let third = try await app(source, upstream: "https://two.test/api")
        let user = try await UserContainer(session("1"), in: third)
        #expect(try user.scope.objects().outbox?.pending == [])
        #expect(try await kept(for: user) == nil)
        try await third.close()
        #expect(source.requests.isEmpty)

        // An address with a trailing slash is the same upstream.
        let fourth = try await app(source, upstream: "https://one.test/api/")
        let author = try await UserContainer(session("1"), in: fourth)
        try await deliverNow(author)
        try await fourth.close()
        #expect(source.requests.filter { $0.method == .post }.map { $0.url.host() } == ["one.test"])
    }

    @Test func twoSessionsOfAUserShareTheirPendingWrites() async throws {
        let numbers = Mutex(2)
        let answered = Rendezvous(of: 3)
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.method == .post else { return Source.answer(to: request) }
            let number = numbers.withLock { number in
                number += 1
                return number
            }
            if number < 5 { await answered.arrive() }
            return DataResponse(status: .created, body: Data("{\"id\": \(number)}".utf8))
        }
        let app = try await app(source)
        let first = try await UserContainer(session("1"), in: app)
        let second = try await UserContainer(session("1"), in: app)

        func publish(_ title: String, as user: UserContainer) async throws -> Bool {
            try await FeedContainer(in: user).makeInteraction().publishPost(title: title, body: "x", by: User.ID(7))
                .isPending
        }
        /// Returns whether writes are pending, and the titles of the new posts in the feed.
        func feed(of user: UserContainer) async throws -> (isPending: Bool, titles: Set<String>) {
            let reading = try await user.repository(.posts()).entities()
            return (reading.isPending, Set(reading.value.map(\.title)).subtracting(["Notes", "More notes"]))
        }
        func deliver(as user: UserContainer) async throws {
            let outbox = try #require(try user.scope.objects().outbox as? Outbox)
            for entry in outbox.pending { try await outbox.settlement(of: entry) }
        }
        #expect(try await publish("First", as: first))
        #expect(try await publish("Second", as: second))
        for user in [first, second] { #expect(try await feed(of: user) == (true, ["First", "Second"])) }
        await answered.arrive()
        try await deliver(as: first)
        for user in [first, second] { #expect(try await feed(of: user) == (false, ["First", "Second"])) }

        // When one session closes, the other continues to deliver.
        try await first.close()
        #expect(try await publish("Third", as: second))
        try await deliver(as: second)
        #expect(try await feed(of: second) == (false, ["First", "Second", "Third"]))
        let outbox = try #require(try second.scope.objects().outbox as? Outbox)
        try await second.close()
        await #expect(throws: RecordStoreError.self) { try await outbox.join(handlers: []) }
        // So does a session that opens after both are closed.
        let third = try await UserContainer(session("1"), in: app)
        #expect(try await publish("Fourth", as: third))
        try await deliver(as: third)
        #expect(handler.errors.isEmpty)
        try await app.close()
    }

    @Test func sessionOpenedDuringCancellationCanStillWrite() async throws {
        /// A store that answers when the gate is open, and rejects commits of cancelled tasks.
        struct CancellableRecordStore: RecordStore {
            let base: any RecordStore
            let gate: Gate

            func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
                _ = await gate.pass()
                return try await base.record(for: key)
            }

            func records(
                under key: RecordKey
            ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
                _ = await gate.pass()
                return try await base.records(under: key)
            }

            func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
                _ = await gate.pass()
                return try await base.losses(under: key)
            }

            func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
                _ = await gate.pass()
                if Task.isCancelled { throw RecordStoreError(.cancelled, explanation: "The task was cancelled.") }
                try await base.commit(changes)
            }

            func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
                _ = await gate.pass()
                return try await base.claim(key)
            }
        }
        let gate = Gate()
        let app = try await AppContainer(
            dataFetcher: Source.recording(),
            recordStore: CancellableRecordStore(base: records, gate: gate),
            clock: ManualClock()
        )
        let user = try await withThrowingTaskGroup(of: UserContainer.self) { group in
            group.cancelAll()
            group.addTask { try await UserContainer(session("1"), in: app) }
            return try #require(await group.next())
        }
        #expect(user.storeFailure?.reason == .cancelled)
        // The store answers only now, so that the cancelled task has not waited for it.
        gate.open()
        #expect(try await publish("First", as: user))
        try await app.close()
    }

    private func publish(_ title: String, as user: UserContainer) async throws -> Bool {
        try await FeedContainer(in: user).makeInteraction().publishPost(title: title, body: "x", by: User.ID(7))
            .isPending
    }

    /// Stores the author, for posts that are published while the upstream is down.
    private func storeAuthor() async throws {
        let app = try await app(Source.recording())
        let reader = try await UserContainer(session("1"), in: app)
        _ = try await UsersContainer(in: reader, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        try await app.close()
    }

    @Test func readOnlySessionShowsPendingWritesWithoutOwningTheOutbox() async throws {
        try await storeAuthor()
        let first = try await app(Self.silent)
        let writer = try await UserContainer(session("1"), in: first)
        #expect(try await publish("First", as: writer))

        let second = try await app(Source.recording())
        let reader = try await UserContainer(session("1"), in: second, pendingWrites: .show)
        #expect(reader.storeFailure == nil)
        let page = try await FeedContainer(in: reader).makeInteraction().readFeed()
        #expect(page.entries.contains { $0.post.title == "First" })
        // Opening another session does not take over the outbox either.
        let other = try await UserContainer(session("1"), in: second)
        #expect(other.storeFailure == nil)
        #expect(
            try await other.withOutbox({ try await $0.list() })?.notes == [
                "The outbox is owned by another part of this process, which delivers it."
            ]
        )
        #expect(try await publish("Second", as: writer))
        #expect(try writer.scope.objects().outbox?.pending.count == 2)
        try await first.close()

        // With its first write, the reader owns the outbox.
        #expect(try await publish("Third", as: reader))
        (try reader.scope.objects().outbox as? Outbox)?.retryNow()
        #expect(try await reader.deliver()?.line == "Delivered 3, refused 0; 0 pending until the next start.")
        try await second.close()
        let others = handler.errors.filter { !($0 is DelayedWriteError) }
        #expect((others as? [RecordStoreError])?.map(\.reason) == [.busy])
    }

    @Test func fencedSessionCanWriteAgain() async throws {
        let app = try await app(Source.recording())
        let first = try await UserContainer(session("1"), in: app)
        #expect(try await publish("First", as: first))
        _ = try await first.deliver()
        // Replace the owner, as another process does on a file system where claims do not work.
        let owner = try #require(
            try await records.records(under: ["outboxes"]).first { $0.key.components.last == "owner" }
        )
        try await records.commit([.keep(StoredRecord([1]), owner.key)])
        await #expect(throws: PublishPostError.self) { try await publish("Second", as: first) }
        #expect(handler.errors.contains { $0 is OutboxFencedError })
        // A new session gets an open outbox, and the old session continues, too.
        let second = try await UserContainer(session("1"), in: app)
        #expect(try await publish("Third", as: second))
        #expect(try await publish("Fourth", as: first))
        #expect(try await second.deliver()?.line == "Delivered 3, refused 0; 0 pending until the next start.")
        try await app.close()
    }

    @Test func newCredentialsResumeDeliveryImmediately() async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.method == .post else { return Source.answer(to: request) }
            let isValid = request.headerFields[.authorization] == "Bearer new"
            return isValid
                ? DataResponse(status: .created, body: Data(#"{"id": 3}"#.utf8)) : DataResponse(status: .unauthorized)
        }
        func session(_ token: String) -> UserSession {
            UserSession(name: "ada", credentials: .bearer(token), storeKey: "1")
        }
        // The clock stands still, so no backoff ends.
        let app = try await app(source)
        let first = try await UserContainer(session("old"), in: app)
        #expect(try await publish("New", as: first))
        let outbox = try #require(try first.scope.objects().outbox as? Outbox)
        while outbox.counts.postponed == 0 { await Task.yield() }
        let second = try await UserContainer(session("new"), in: app)
        #expect(try await second.deliver()?.line == "Delivered 1, refused 0; 0 pending until the next start.")
        try await app.close()
    }

    @Test func userNamedGuestDoesNotShareTheGuestsStore() async throws {
        let app = try await app(Source.recording())
        let guest = try await UserContainer(.guest, in: app)
        let user = try await UserContainer(session("guest"), in: app)
        let posts = try user.repository(.posts())
        _ = try await posts.entities()
        await posts.flush()
        #expect(try await kept(for: user)?.isEmpty == false)
        #expect(try await kept(for: guest) == nil)
        try await app.close()
    }

    @Test func storeThatWasFullAtSignInIsUsedOnceThereIsRoom() async throws {
        let failing = RecordingRecordStore(records, failure: RecordStoreError(.full, explanation: "There is no room."))
        let app = try await AppContainer(dataFetcher: Source.recording(), recordStore: failing, clock: ManualClock())
        _ = try app.errorHandler.replace(with: handler)
        let user = try await UserContainer(session("1"), in: app)
        failing.fail(with: nil)
        let published = try await FeedContainer(in: user).makeInteraction()
            .publishPost(title: "New", body: "x", by: User.ID(7))
        #expect(published.isPending)
        try await app.close()
    }

    @Test func deliverWaitsForPendingWritesWithinItsLimit() async throws {
        let first = try await app(Source.recording())
        let reader = try await UserContainer(session("1"), in: first)
        _ = try await UsersContainer(in: reader, router: NullRouter()).makeInteraction().showUser(User.ID(7))
        #expect(try await reader.deliver()?.line == "Delivered 0, refused 0; 0 pending until the next start.")
        try await first.close()

        let second = try await app(Self.silent)
        let writer = try await UserContainer(session("1"), in: second)
        let accepted = try await FeedContainer(in: writer)
            .publish(line: Array(#"{"userId": 7, "title": "New", "body": "x"}"#.utf8))
        #expect(accepted.pendingID != nil)
        #expect(try await writer.deliver(within: .zero)?.waitingCount == 1)
        try await second.close()

        let third = try await app(Source.recording())
        let user = try await UserContainer(session("1"), in: third)
        // The clock stands still, so the backoff of the earlier process does not end.
        (try user.scope.objects().outbox as? Outbox)?.retryNow()
        #expect(try await user.deliver()?.line == "Delivered 1, refused 0; 0 pending until the next start.")
        try await third.close()
        await #expect(throws: ScopeError.self) { try await user.deliver() }
    }

    @Test func deliverReturnsNilWithoutAStore() async throws {
        let app = try await app(Source.recording())
        let user = try await UserContainer(session(nil), in: app)
        #expect(user.storeFailure == nil)
        #expect(try await user.deliver() == nil)
        try await app.close()
    }

    @Test(arguments: [PendingWrites.deliver, .show])
    func unresponsiveStoreDelaysSignInOnlyUpToTheTimeLimit(pendingWrites: PendingWrites) async throws {
        let clock = ManualClock()
        let app = try await AppContainer(
            AppConfiguration(timeLimit: .seconds(30)),
            dataFetcher: Source.recording(),
            recordStore: StuckRecordStore(),
            clock: clock
        )
        _ = try app.errorHandler.replace(with: handler)
        async let signedIn = UserContainer(session("1"), in: app, pendingWrites: pendingWrites)
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        #expect(try await signedIn.storeFailure?.reason == .unavailable)
        // No task waits for the store, so closing returns.
        try await app.close()
    }

    @Test func sessionReportsAnOwnedOutboxAndDeliversAfterItsRelease() async throws {
        try await storeAuthor()
        let first = try await app(Self.silent)
        let owner = try await UserContainer(session("1"), in: first)
        _ = try await FeedContainer(in: owner)
            .publish(line: Array(#"{"userId": 7, "title": "New", "body": "x"}"#.utf8))
        let clock = ManualClock()
        let second = try await AppContainer(
            AppConfiguration(upstream: nil),
            dataFetcher: Source.recording(),
            recordStore: records,
            clock: clock
        )
        _ = try second.errorHandler.replace(with: handler)
        let next = try await UserContainer(session("1"), in: second)
        while !handler.errors.contains(where: { ($0 as? RecordStoreError)?.reason == .busy }) { await Task.yield() }
        #expect((try next.scope.objects().outbox as? Outbox)?.status.pendingCount == 0)
        try await first.close()
        let outbox = try #require(try next.scope.objects().outbox as? Outbox)
        while outbox.status.pendingCount == 0 {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        try await deliverNow(next)
        try await second.close()
    }

    @Test func failingStoreIsReportedAndReadingContinues() async throws {
        let failing = RecordingRecordStore(failure: RecordStoreError(.denied, explanation: "It may not be read."))
        let app = try await AppContainer(dataFetcher: Source.recording(), recordStore: failing, clock: ManualClock())
        _ = try app.errorHandler.replace(with: handler)
        let user = try await UserContainer(session("1"), in: app)
        #expect(user.storeFailure?.reason == .denied)
        let interaction = try await FeedContainer(in: user).makeInteraction()
        #expect(try await interaction.readFeed().total > 0)
        #expect(handler.errors.contains { ($0 as? RecordStoreError)?.reason == .denied })
        // A write that cannot be stored is not accepted.
        await #expect(throws: PublishPostError.self) {
            try await interaction.publishPost(title: "New", body: "x", by: User.ID(7))
        }
        try await app.close()
    }
}
