import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Synchronization
import TestSupport
import Testing

/// Several instances of a service that share a store.
@Suite(.timeLimit(.minutes(5)))
struct SharedStoreTests {
    /// An upstream whose writes wait for a gate.
    private struct GatedWrites: DataFetcher {
        let base: NoteUpstream
        let gate: Gate

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            if request.method != .get, !(await gate.pass()) {
                throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
            }
            return try await base.fetch(request)
        }
    }

    private let source = NoteUpstream()
    private let gate = Gate()
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSince1970: 0) })
    private let errors = RecordingErrorHandler()
    private let token = SessionCredentials.fixed(.bearer("ada"))

    /// A layer that notes the requests of a user.
    private struct NotingDataFetcher: DecoratingDataFetcher {
        var base: any DataFetcher
        var layer: DataFetcherLayer { DataFetcherLayer(.other, "notes requests") }
        let note: @Sendable (DataRequest) -> Void

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            note(request)
            return try await base.fetch(request)
        }
    }

    /// The requests that have passed the layer of their user.
    private let noted = Notes()

    private final class Notes: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// Starts an instance.
    private func instance(
        at address: String = "https://upstream.test",
        pendingWrites: PendingWrites = .deliver
    ) async throws -> AppScope<Void> {
        let url = try #require(URL(string: address))
        let upstream = Upstream(baseURL: url, dataFetcher: GatedWrites(base: source, gate: gate))
        var configuration = AppScopeConfiguration(upstream, endpoints: [AnyEndpoint(.notes)])
        configuration.share(store, pendingWrites: pendingWrites) { user in .fixed(.bearer("the service for \(user)")) }
        configuration.errorHandler = errors
        configuration.clock = ManualClock()
        configuration.userLayer = { [noted] user, base in
            NotingDataFetcher(base: base) { request in
                let token = request.headerFields[.authorization] ?? "no token"
                noted.lines.withLock { $0.append("\(user): \(request.method) with \(token)") }
            }
        }
        return await AppScope("notes", configuration)
    }

    @Test func layerOfAUserSeesTheRequestsOfSessionsAndThoseThatDeliverWrites() async throws {
        gate.open()
        let app = try await instance()
        let session = try await app.signIn(as: "ada", credentials: token)
        _ = try await session.repository(.notes).entity(7)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        #expect(try await session.deliver(within: .seconds(10)) == 0)
        let guest = try await app.signIn(as: "grace")
        _ = try await guest.repository(.notes).entity(7)
        _ = try await guest.repository(.board).entity(7)
        let lines = noted.lines.withLock { $0 }
        #expect(
            Set(lines).isSuperset(of: [
                "ada: GET with Bearer ada", "ada: PUT with Bearer the service for ada", "grace: GET with no token",
            ])
        )
        #expect(lines.count == source.requests.count - 1)
        try await app.close()
    }

    @Test func userSeesOnOneInstanceWhatIsWrittenOnAnother() async throws {
        let (first, second) = (try await instance(), try await instance())
        let notes = try await first.signIn(as: "ada", credentials: token).repository(.notes)
        let elsewhere = try await second.signIn(as: "ada", credentials: token).repository(.notes)
        var readings = elsewhere.changes(of: 7).makeAsyncIterator()
        #expect(try await readings.next()?.value?.text == "Seven")
        _ = try await notes.entity(7)
        #expect(try await notes.update(7) { $0.text = "Eight" }.isPending)
        let pending = try #require(try await readings.next())
        #expect(pending.value?.text == "Eight" && pending.isPending)
        gate.open()
        var settled = try await readings.next()
        // The reading in between is one of the previous value, or of no value, if the announcements arrive one by one.
        while settled?.value?.text != "Eight" || settled?.isPending == true { settled = try await readings.next() }
        #expect(source.requests.filter { $0.method == .put }.count == 1)
        for app in [first, second] { try await app.close() }
        #expect(errors.errors.isEmpty)
    }

    @Test func writesAreDeliveredWithTheCredentialsOfTheServiceAfterSignOut() async throws {
        let app = try await instance()
        let session = try await app.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        #expect(try await app.outboxes().map(\.user) == ["ada"])
        let entry = try #require(try session.outbox?.pending.first)
        try await session.close()
        let again = try await app.signIn(as: "ada", credentials: token)
        gate.open()
        try await again.outbox?.settlement(of: entry)
        let puts = source.requests.filter { $0.method == .put }
        #expect(puts.map { $0.headerFields[.authorization] } == ["Bearer the service for ada"])
        #expect(try await again.repository(.notes).entity(7).value.text == "Eight")
        #expect(try await app.outboxes().isEmpty)
        try await app.close()
    }

    @Test func guestsSendNoCredentials() async throws {
        gate.open()
        let app = try await instance()
        let guest = try await app.signIn(as: "ada")
        let created = try await guest.repository(.notes).create(NoteDraft(text: "New"))
        #expect(created.isPending && created.value.id < 0)
        #expect(try await guest.deliver(within: .seconds(10)) == 0)
        #expect(source.tokens == [nil])
        try await app.close()
    }

    @Test func usersDoNotShareWrites() async throws {
        let app = try await instance()
        let ada = try await app.signIn(as: "ada", credentials: token)
        let grace = try await app.signIn(as: "grace", credentials: .fixed(.bearer("grace")))
        try await ada.repository(.notes).update(7) { $0.text = "Eight" }
        #expect(try await !grace.repository(.notes).entity(7).isPending)
        #expect(try grace.outbox?.pending.isEmpty == true)
        #expect(try await ada.repository(.notes).entity(7).isPending)
        try await app.close()
    }

    @Test func operatorToolShowsAndDiscardsWithoutDelivering() async throws {
        let first = try await instance()
        let session = try await first.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        try await first.close()
        gate.open()
        let asked = source.requests.count
        let tool = try await instance(pendingWrites: .show)
        let outbox = try #require(try await tool.outboxes().first)
        let write = try #require(outbox.contents.pending.first)
        #expect(outbox.user == "ada" && !outbox.isGuest)
        #expect(try await tool.discardWrite(write.id, in: outbox))
        #expect(try await !tool.discardWrite(write.id, in: outbox))
        #expect(try await !tool.retryWrite(write.id, in: outbox))
        #expect(try await tool.outboxes().isEmpty)
        try await tool.close()
        #expect(source.requests.count == asked)
    }

    @Test func upstreamsThatTheAppDoesNotHaveAreNamedWhileTheyHaveWrites() async throws {
        let first = try await instance()
        let session = try await first.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        #expect(try await first.unknownUpstreams().isEmpty)
        try await first.close()
        let tool = try await instance(at: "https://other.test", pendingWrites: .show)
        #expect(try await tool.outboxes().isEmpty)
        #expect(try await tool.unknownUpstreams() == ["https://upstream.test"])
        let rightTool = try await instance(pendingWrites: .show)
        let outbox = try #require(try await rightTool.outboxes().first)
        let write = try #require(outbox.contents.pending.first)
        #expect(try await rightTool.discardWrite(write.id, in: outbox))
        #expect(try await tool.unknownUpstreams().isEmpty)
        for app in [tool, rightTool] { try await app.close() }
    }

    @Test func operatorToolRetriesAWrite() async throws {
        let first = try await instance()
        let session = try await first.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        try await first.close()
        let tool = try await instance(pendingWrites: .show)
        let reader = try await tool.signIn(as: "ada", credentials: token, pendingWrites: .show)
        let outbox = try #require(try await tool.outboxes().first)
        let entry = try #require(try reader.outbox?.pending.first)
        gate.open()
        #expect(try await tool.retryWrite(try #require(outbox.contents.pending.first).id, in: outbox))
        try await reader.outbox?.settlement(of: entry)
        #expect(try await tool.outboxes().isEmpty)
        try await tool.close()
    }

    @Test func outboxOfAStoreThatIsNotSharedBelongsToItsSession() async throws {
        let url = try #require(URL(string: "https://upstream.test"))
        let upstream = Upstream(baseURL: url, dataFetcher: GatedWrites(base: source, gate: gate))
        let app = await AppScope(
            "notes",
            AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.notes)])
        )
        let session = try await app.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        let outbox = try #require(try await app.outboxes().first)
        let id = try #require(outbox.contents.pending.first).id
        for change in [app.retryWrite, app.discardWrite] {
            let error = await #expect(throws: RecordStoreError.self) { try await change(id, outbox) }
            #expect(error?.reason == .denied)
        }
        gate.open()
        try await app.close()
    }

    @Test func shutdownCountsWhatStaysPending() async throws {
        let first = try await instance()
        let session = try await first.signIn(as: "ada", credentials: token)
        try await session.repository(.notes).update(7) { $0.text = "Eight" }
        let report = await first.shutDown(within: .zero)
        #expect(report.pendingWriteCount == 1 && report.closeFailures.isEmpty)
        // Another instance goes on with it at once, because the lease was given back.
        gate.open()
        let second = try await instance()
        let other = try await second.signIn(as: "ada", credentials: token)
        try await other.deliver(within: .seconds(10))
        #expect(source.requests.filter { $0.method == .put }.count == 1)
        try await second.close()
    }
}
