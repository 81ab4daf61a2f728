import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import Testing
import UseCases

@testable import Composition

/// Two instances of the app that share a store.
@Suite(.timeLimit(.minutes(5)))
struct SharedStoreTests {
    private let records = InMemoryRecordStore()
    private let handler = RecordingErrorHandler()
    private let ada = UserSession(name: "ada", credentials: .bearer("token of ada"), storeKey: "7")

    private func app(
        _ source: any DataFetcher,
        _ pendingWrites: PendingWrites = .deliver,
        credentials: @escaping @Sendable (String) -> HeaderField? = { .bearer("service for \($0)") }
    ) async throws -> AppContainer {
        let app = try await AppContainer(
            dataFetcher: source,
            sharedStore: records,
            pendingWrites: pendingWrites,
            clock: ManualClock(),
            deliveringAs: credentials
        )
        _ = try app.errorHandler.replace(with: handler)
        return app
    }

    private func publish(_ title: String, as user: UserContainer) async throws {
        let line = #"{"userId": 7, "title": "\#(title)", "body": "On the engine."}"#
        let post = try await FeedContainer(in: user).publish(line: Array(line.utf8))
        #expect(post.pendingID != nil)
    }

    private func titles(for user: UserContainer) async throws -> [String] {
        try await user.repository(.posts()).entities().value.map(\.title)
    }

    @Test func postIsShownOnBothInstancesAndDeliveredByEither() async throws {
        let (web, worker) = (Source.recording(), Source.recording())
        // The first instance delivers nothing until it accepts a write, and is closed before it can.
        let first = try await app(Stalling(base: web))
        let author = try await UserContainer(ada, in: first)
        try await publish("New", as: author)
        let second = try await app(worker, .show)
        let reader = try await UserContainer(ada, in: second, pendingWrites: .show)
        #expect(try await titles(for: reader).contains("New"))
        #expect(worker.requests.allSatisfy { $0.method == .get })
        let list = try #require(try await reader.withOutbox { try await $0.list() })
        #expect(list.pendingCount == 1 && list.notes.isEmpty)
        // Its attempt was cancelled.
        try await first.close()

        let delivery = try #require(try await reader.deliver(within: .seconds(60)))
        #expect(delivery.line == "Delivered 1, refused 0; 0 pending until the next start.")
        let post = try #require(worker.requests.first { $0.method == .post })
        #expect(post.headerFields[.authorization] == "Bearer service for 7")
        try await second.close()
        #expect(handler.errors.isEmpty)
    }

    @Test func instanceDeliversWithoutASession() async throws {
        let first = try await app(Stalling(base: Source.recording()))
        try await publish("New", as: UserContainer(ada, in: first))
        try await first.close()
        let posted = Promise<DataRequest>()
        let second = try await app(
            StubDataFetcher { request throws(FetchError) in
                if request.method == .post { posted.fulfill(request) }
                return Source.answer(to: request)
            }
        )
        guard case .fulfilled(let request) = await posted.value() else {
            Issue.record("The post was not sent.")
            return
        }
        #expect(request.headerFields[.authorization] == "Bearer service for 7")
        try await second.close()
    }

    @Test func guestsSendNoCredentials() async throws {
        let upstream = Source.recording()
        let app = try await app(upstream) { _ in
            Issue.record("Guests have no credentials.")
            return nil
        }
        let guest = try await UserContainer(.guest, in: app)
        try await publish("New", as: guest)
        #expect(try await guest.deliver(within: .seconds(60))?.deliveredCount == 1)
        #expect(upstream.requests.allSatisfy { $0.headerFields[.authorization] == nil })
        try await app.close()
    }

    @Test func writeOfAUserWithoutCredentialsIsRefused() async throws {
        let upstream = Source.recording()
        let app = try await app(upstream) { _ in nil }
        let user = try await UserContainer(ada, in: app)
        let failure = await #expect(throws: FailureViewModel.self) { try await publish("New", as: user) }
        #expect(failure?.line.contains("no credentials for delivering the writes of 7") == true)
        #expect(try await user.withOutbox { try await $0.list() }?.pendingCount == 0)
        try await app.close()
    }

    @Test(arguments: ["7", "a/b", "", "guests", "users/7"])
    func partitionNamesItsOwner(key: String) {
        let owner = StoreOwner(key)
        #expect(StoreOwner(partition: owner.partition) == owner && owner.key == ["users", key])
        #expect(owner != .guests && owner.partition != StoreOwner.guests.partition)
        #expect(StoreOwner(partition: StoreOwner.guests.partition) == .guests)
        #expect(StoreOwner(partition: "guests/\(key)") == nil)
    }
}

/// Answers reads, and no writes.
private struct Stalling: DataFetcher {
    let base: any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if request.method == .get { return try await base.fetch(request) }
        await Rendezvous(of: 2).arrive()
        throw FetchError(.cancelled, request: request, explanation: "was cancelled")
    }
}
