import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RepositorySetTests {
    private let stage = OutboxStage()

    private func remarks(_ creation: Creation<Remark>? = nil, for audience: Audience = .session) -> Endpoint<Remark> {
        Endpoint(RemarkDTO.self, at: "remarks", creation: creation, audience: audience)
    }

    private func set(
        _ outbox: SessionOutbox? = nil,
        sharing shared: RepositorySet? = nil,
        declares: Bool = true
    ) throws -> RepositorySet {
        RepositorySet(
            upstream: try .example(stage.upstream()),
            outbox: outbox,
            declaring: declares ? [AnyEndpoint(remarks(.remarks))] : [],
            sharing: shared,
            timer: stage.timer
        )
    }

    @Test func allCallersGetTheSameRepositoryUntilTheSetIsClosed() async throws {
        let set = try set()
        #expect(try set.repository(remarks()) === set.repository(remarks()))
        #expect(try set.repository(remarks()) !== self.set().repository(remarks()))
        await set.close()
        let error = #expect(throws: RepositoryError.self) { try set.repository(remarks()) }
        #expect(error?.reason == .closed)
    }

    @Test func closedSetReleasesItsRepositories() async throws {
        let set = try set()
        weak var repository: Repository<Remark>?
        do { repository = try set.repository(remarks()) }
        #expect(repository != nil)
        await set.close()
        #expect(repository == nil)
    }

    @Test func repositoryForEveryoneIsSharedAndHasNoWrites() throws {
        let shared = try set()
        let session = try set(sharing: shared)
        #expect(try session.repository(remarks(for: .everyone)) === shared.repository(remarks(for: .everyone)))
        for set in [shared, session] {
            let error = #expect(throws: RepositoryError.self) { try set.repository(remarks(.remarks, for: .everyone)) }
            #expect(error?.reason == .refused && error?.description.contains("writes need a session") == true)
        }
    }

    /// The outbox needs a handler for each write before it delivers any.
    @Test func endpointWithWritesThroughAnOutboxMustBeDeclared() async throws {
        let outbox = try stage.outbox(stage.upstream())
        let share = SessionOutbox(outbox, behind: nil, executor: stage.scheduler.executor) { await outbox.close() }
        let set = try set(share)
        let repository = try set.repository(remarks(.remarks))
        #expect(try set.repository(remarks(.remarks)) === repository)
        let other = try self.set(share, declares: false)
        let error = #expect(throws: RepositoryError.self) { try other.repository(remarks(.remarks)) }
        #expect(error?.reason == .refused && error?.explanation.contains("declare the endpoint") == true)
        #expect(throws: Never.self) { try self.set(declares: false).repository(remarks(.remarks)) }
        try await stage.scheduler.run { await set.close() }
    }

    @Test func closingEndsTheShareOfTheOutbox() async throws {
        let stage = stage
        let outbox = try stage.outbox(stage.upstream())
        let share = SessionOutbox(outbox, behind: nil, executor: stage.scheduler.executor) { await outbox.close() }
        let set = try set(share)
        try await stage.scheduler.run {
            try await set.open()
            await set.close()
            let error = await #expect(throws: RecordStoreError.self) {
                try await outbox.accept([OutboxStage.write(["remarks"], endpoint: "remarks")])
            }
            #expect(error?.reason == .closed)
        }
    }
}
