#if PostgreSQL
import Foundation
import InwardCore
import InwardFetching
import InwardPostgreSQL
import InwardRepositories
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLSharedOutboxTests {
    private let server: PostgreSQLServer
    private let database: String

    init() async throws {
        server = try PostgreSQLServer.shared.get()
        database = server.info(try await server.database())
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
}
#endif
