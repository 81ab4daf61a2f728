import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing

@testable import InwardScopes

@Suite(.timeLimit(.minutes(5)))
struct AppShutdownTests {
    private let source = NoteUpstream()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let clock = ManualClock()

    private func app(
        asking dataFetcher: (any DataFetcher)? = nil,
        store: (any RecordStore)? = nil
    ) async throws -> AppScope<Void> {
        let url = try #require(URL(string: "https://upstream.test"))
        let upstream = Upstream(baseURL: url, dataFetcher: dataFetcher ?? source)
        var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.notes)])
        configuration.clock = clock
        return await AppScope("notes", configuration)
    }

    @Test func shutdownRejectsSessionsAndFinishesRequestsInFlight() async throws {
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow)
        let notes = try await app.signIn(as: "ada").repository(.notes)
        async let reading = notes.entity(7)
        await slow.hasBegun()
        #expect(app.isAcceptingWork)
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        #expect(!app.isAcceptingWork)
        #expect(app.isOpen)
        let error = await #expect(throws: ScopeError.self) { try await app.signIn(as: "bob") }
        #expect(error?.description == "app notes is shutting down and accepts no new work")
        slow.gate.open()
        let text = try await reading.value.text
        #expect(text == "Seven")
        let report = await shuttingDown.value
        #expect(report.isComplete)
        #expect(report.description == "app notes is shut down.")
        #expect(!app.isOpen)
        #expect(!app.isAcceptingWork)
    }

    @Test func shutdownFinishesWorkThatStartsDuringIt() async throws {
        let (reads, writes) = (GatedDataFetcher(source), GatedDataFetcher(source))
        let app = try await app(
            asking: StubDataFetcher { request throws(FetchError) in
                try await (request.method == .get ? reads : writes).fetch(request)
            }
        )
        let notes = try await app.signIn(as: "ada").repository(.notes)
        let reading = Task.waiting {
            await Result(awaiting: { () async throws(RepositoryError) in try await notes.entity(7) })
        }
        await reads.hasBegun()
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        await clock.sleepers(1)
        // The app waits for the read when a write starts.
        let writing = Task.waiting {
            await Result(awaiting: { () async throws(RepositoryError) in
                try await notes.create(NoteDraft(text: "New"))
            })
        }
        await writes.hasBegun()
        reads.gate.open()
        #expect(try await reading.value.get().value.text == "Seven")
        await clock.sleepers(1)
        writes.gate.open()
        #expect(try await writing.value.get().value.text == "New")
        let report = await shuttingDown.value
        #expect(report.isComplete)
    }

    @Test func workInFlightAtTheLimitIsCancelledAndReported() async throws {
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow)
        let notes = try await app.signIn(as: "ada").repository(.notes)
        let reading = Task.waiting {
            await Result(awaiting: { () async throws(RepositoryError) in try await notes.entity(7) })
        }
        await slow.hasBegun()
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        let report = await shuttingDown.value
        #expect(report.unfinished == ["session ada": 1])
        #expect(!report.isComplete)
        #expect(report.description == "app notes is shut down. Work was cancelled: 1 of session ada.")
        #expect(await reading.value.failure != nil)
    }

    @Test func shutdownFinishesWorkOfARegistryAndRejectsNewWork() async throws {
        let (app, gate) = (try await app(), Gate())
        let sessions = try await app.sessionRegistry()
        let source = source
        let work = Task.waiting {
            await Result(awaiting: { () async throws in
                try await sessions.withSession(of: "ada") { session in
                    _ = await gate.pass()
                    // Work that has started still sends requests while the app shuts down.
                    return try await session.repository(.notes).entity(7).value.text
                }
            })
        }
        _ = try await sessions.session(of: "ada")
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        for user in ["ada", "bob"] {
            let error = await #expect(throws: SessionRegistryError.self) {
                try await sessions.withSession(of: user) { _ in Issue.record("The work has started.") }
            }
            #expect(error?.reason == .closed)
        }
        gate.open()
        #expect(try await work.value.get() == "Seven")
        #expect(source.requests.count == 1)
        let report = await shuttingDown.value
        #expect(report.isComplete)
    }

    @Test func pendingWritesAreDeliveredBeforeSessionsClose() async throws {
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow, store: store)
        let notes = try await app.signIn(as: "ada").repository(.notes)
        let created = try await notes.create(NoteDraft(text: "New"))
        // Sent after the creation is delivered, so it is not in flight yet.
        try await notes.update(created.value.id) { $0.text = "Newer" }
        await slow.hasBegun()
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        slow.gate.open()
        let report = await shuttingDown.value
        #expect(report.isComplete)
        #expect(source.requests.map(\.method) == [.post, .put])
    }

    @Test func onePendingWriteIsReportedInTheSingular() async throws {
        source.goOffline()
        let app = try await app(store: store)
        _ = try await app.signIn(as: "ada").repository(.notes).create(NoteDraft(text: "New"))
        let report = await app.shutDown(within: .zero)
        #expect(report.description.hasSuffix(" 1 pending write stays in the store for the next start."))
    }

    @Test func undeliverableWritesStayInTheStoreAndAreCounted() async throws {
        source.goOffline()
        let first = try await app(store: store)
        for user in ["ada", "bob"] {
            _ = try await first.signIn(as: user).repository(.notes).create(NoteDraft(text: user))
        }
        let report = await first.shutDown(within: .zero)
        #expect(report.pendingWriteCount == 2)
        #expect(!report.isComplete)
        #expect(report.description.contains("2 pending writes stay in the store"))
        source.goOffline(false)
        let second = try await app(store: store)
        let back = try await second.signIn(as: "ada")
        try (back.outbox as? Outbox)?.retryNow()
        try await back.outbox?.drain()
        #expect(source.requests.map(\.method) == [.post])
        try await second.close()
    }

    @Test func reportSaysWhyPendingWritesCouldNotBeCounted() async throws {
        let broken = BrokenRecordStore()
        let app = try await app(store: broken)
        _ = try await app.signIn(as: "ada")
        let report = await app.shutDown(within: .zero)
        #expect(report.pendingWriteCount == nil)
        #expect(report.storeFailures.map(\.reason) == [.unavailable])
        #expect(report.description.hasSuffix("The pending writes could not be counted: The disk is gone."))
        #expect(!app.isOpen)
    }

    @Test func reportIncludesFailuresToClose() async throws {
        let app = try await app()
        _ = try await app.signIn(as: "ada") { opening, _ in
            opening.closing("drafts", as: "drafts") { _ in throw ExampleError("The disk is full") }
        }
        let report = await app.shutDown(within: .zero)
        #expect(report.closeFailures.count == 1)
        #expect(report.description.hasSuffix("session ada > drafts failed to close: The disk is full."))
        // A closed app cannot count pending writes.
        let again = await app.shutDown(within: .zero)
        #expect(again.pendingWriteCount == nil)
        #expect(again.closeFailures.count == 1)
        #expect(again.description.contains(" was already closed, so its pending writes were not counted. "))
    }

    @Test func cancelledTaskShutsTheAppDownWithoutWaiting() async throws {
        let slow = GatedDataFetcher(source)
        let app = try await app(asking: slow)
        let notes = try await app.signIn(as: "ada").repository(.notes)
        let reading = Task.waiting {
            await Result(awaiting: { () async throws(RepositoryError) in try await notes.entity(7) })
        }
        await slow.hasBegun()
        let shuttingDown = Task.waiting { await app.shutDown(within: .seconds(10)) }
        shuttingDown.cancel()
        let report = await shuttingDown.value
        #expect(report.unfinished == ["session ada": 1])
        #expect(!app.isOpen)
        #expect(await reading.value.failure != nil)
    }
}
