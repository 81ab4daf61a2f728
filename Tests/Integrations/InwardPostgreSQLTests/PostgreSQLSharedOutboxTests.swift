#if PostgreSQL
import Foundation
import InwardCore
import InwardFetching
import InwardPostgreSQL
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLSharedOutboxTests {
    private let server: PostgreSQLServer
    private let name: String
    private let database: String

    init() async throws {
        server = try PostgreSQLServer.shared.get()
        name = try await server.database()
        database = server.info(name)
    }

    private func outbox(_ upstream: IdempotentDataFetcher, _ errors: RecordingErrorHandler) throws -> SharedOutbox {
        let destination = OutboxDestination(
            upstream: try .example(upstream),
            handlers: [RecordingOutboxHandler()]
        )
        return SharedOutbox(store: PostgreSQLRecordStore(database), errorHandler: errors) { _ in destination }
    }

    @Test func instancesOverOneDatabaseDeliverEachWriteOnceAndInOrder() async throws {
        let (subjects, writes) = (10, 200)
        let (isDone, done) = (Promise<Void>(), Counter())
        let upstream = IdempotentDataFetcher(answer: { _ in
            if done.add() == writes { isDone.fulfill(()) }
            return DataResponse(status: .created)
        })
        let errors = RecordingErrorHandler()
        let instances = [try outbox(upstream, errors), try outbox(upstream, errors)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            let deliveries = instances.map { instance in Task { await instance.run() } }
            for subject in 0..<subjects {
                group.addTask {
                    for number in 0..<(writes / subjects) {
                        let write = OutboxWrite(
                            endpoint: "posts",
                            subject: ["posts", "\(subject)"],
                            path: "posts/\(subject)",
                            body: Array("\(number)".utf8)
                        )
                        try await instances[number % 2].accept([write], in: "users/\(subject % 3)")
                    }
                }
            }
            try await group.waitForAll()
            _ = await isDone.value()
            // An answered write is settled before an instance stops.
            for delivery in deliveries {
                delivery.cancel()
                await delivery.value
            }
        }
        #expect(upstream.done.count == writes)
        for subject in 0..<subjects {
            let bodies = upstream.done.filter { $0.url.lastPathComponent == "\(subject)" }.compactMap { $0.body }
            #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == (0..<(writes / subjects)).map(String.init))
        }
        #expect(instances.map(\.counts.delivered).reduce(0, +) == writes)
        #expect(try await PostgreSQLRecordStore(database).records(under: ["outbox"]).isEmpty)
        #expect(errors.errors.isEmpty)
    }

    /// The sessions of a user on two instances, of which the second one follows the first one.
    @Test func repositoryShowsWhatAnotherInstanceWrites() async throws {
        let (source, errors) = (NoteSource(), RecordingErrorHandler())
        let instances = try (0..<2).map { _ in try Instance(PostgreSQLRecordStore(server.info(name)), source, errors) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for instance in instances {
                group.addTask { await instance.outbox.run() }
                group.addTask { await instance.peers.followAnnouncements() }
                _ = try await instance.partition.join(handlers: [instance.notes.handler])
                try await instance.partition.showPending()
            }
            var readings = instances[1].notes.changes(of: 2).makeAsyncIterator()
            func next(_ text: String, isPending: Bool) async throws {
                while let reading = try await readings.next() {
                    if reading.value?.text == text, reading.isPending == isPending { return }
                }
                Issue.record("The sequence has ended.")
            }
            try await next("old", isPending: false)
            try await instances[0].notes.update(2) { $0.text = "new" }
            try await next("new", isPending: true)
            // A lost connection hides nothing.
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
            _ = try await server.execute(cut, in: "postgres")
            source.gate.open()
            try await next("new", isPending: false)
            group.cancelAll()
        }
    }

    private struct Instance: Sendable {
        let peers: RepositoryPeers
        let outbox: SharedOutbox
        let partition: OutboxPartition
        let notes: Repository<Note>

        init(_ store: PostgreSQLRecordStore, _ source: any DataFetcher, _ errors: RecordingErrorHandler) throws {
            let peers = RepositoryPeers(sharing: store)
            let upstream = try Upstream.example(source)
            let endpoint = Endpoint(NoteDTO.self, at: "notes", editing: Editing(.put))
            @Sendable func place(_ user: String) -> RepositoryStore {
                RepositoryStore(store, partition: ["users", user], peers: peers, now: { Date() }) { errors.handle($0) }
            }
            outbox = SharedOutbox(store: store, errorHandler: errors) { user in
                OutboxDestination(upstream: upstream, endpoints: [AnyEndpoint(endpoint)], store: place(user))
            }
            partition = outbox.partition("ada")
            notes = Repository(endpoint, upstream: upstream, store: place("ada"), outbox: partition)
            self.peers = peers
        }
    }
}

private struct Note: Identifiable, Sendable {
    let id: Int
    var text: String
}

private struct NoteDTO: RecordDTO {
    static let listName = "notes"
    let id: Int
    let text: String

    init(_ note: Note) { (id, text) = (note.id, note.text) }

    func entity() throws(FieldError) -> Note { Note(id: id, text: text) }
}

/// An upstream of one note, whose writes wait for a gate.
private final class NoteSource: DataFetcher {
    let gate = Gate()
    private let body = Mutex(Data(#"{"id": 2, "text": "old"}"#.utf8))

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard let sent = request.body else { return DataResponse(body: body.withLock(\.self)) }
        guard await gate.pass() else { throw FetchError(.cancelled, request: request, explanation: "was cancelled") }
        body.withLock { $0 = sent }
        return DataResponse(body: sent)
    }
}
#endif
