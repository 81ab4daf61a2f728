import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Entities that are created in their parent's list, such as `authors/7/remarks`.
@Suite(.timeLimit(.minutes(5)))
struct NestedCreationTests {
    private let stage = OutboxStage()
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })
    private let nested = EntityFilter<Remark>(at: "authors/7/remarks", of: ["authors", "7"]) { $0.author == 7 }

    private static let byAuthor: @Sendable (RemarkDTO) -> [String] = {
        ["authors", $0.author.description, "remarks"]
    }

    private func draft(_ text: String = "four", by author: Int = 7) -> RemarkDTO {
        RemarkDTO(Remark(id: 0, author: author, text: text))
    }

    private func repository(
        outbox: Outbox? = nil,
        at path: @escaping @Sendable (RemarkDTO) -> [String] = byAuthor
    ) throws -> Repository<Remark> {
        Repository(
            Endpoint(
                RemarkDTO.self,
                at: "remarks",
                creation: Creation<Remark>(RemarkDTO.self, answer: RemarkDTO.self, at: path) { draft, number in
                    Remark(id: -1 - number, author: draft.author, text: draft.text)
                },
                editing: Editing(.put)
            ),
            upstream: try .example(source),
            outbox: outbox,
            timer: stage.timer
        )
    }

    /// Returns the error of creating a draft, or `nil` if it is sent.
    private func refusal(
        of draft: some Encodable & Sendable,
        by repository: Repository<Remark>
    ) async -> RepositoryError? {
        do {
            _ = try await repository.create(draft)
            return nil
        } catch {
            return error
        }
    }

    private var paths: [String] { source.requests.map { "\($0.method) \($0.url.path(percentEncoded: true))" } }

    /// Runs a process that opens an outbox and a repository over the store.
    private func run(
        keySeed: UInt64 = 1,
        at path: @escaping @Sendable (RemarkDTO) -> [String] = byAuthor,
        _ body: @escaping @Sendable (Repository<Remark>, Outbox) async throws -> Void
    ) async throws {
        let outbox = try stage.outbox(source, store: store, keySeed: keySeed)
        let repository = try repository(outbox: outbox, at: path)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            try await body(repository, outbox)
            await repository.close()
            await outbox.close()
        }
    }

    @Test func draftIsSentToItsParentsList() async throws {
        let repository = try repository()
        _ = try await repository.entities(nested)
        let reading = try await repository.create(draft())
        #expect(reading == Reading(Remark(id: 4, author: 7, text: "four"), origin: .upstream))
        #expect(try await repository.entities(nested).value.map(\.id) == [1, 2, 3, 4])
        #expect(try await repository.entity(4).origin == .memory)
        #expect(paths == ["GET /api/authors/7/remarks", "POST /api/authors/7/remarks"])
    }

    @Test func draftInAnOutboxIsPendingInItsParentsList() async throws {
        try await run { [self] repository, outbox in
            _ = try await repository.entities(nested)
            source.goOffline()
            let created = try await repository.create(draft())
            #expect(created.isPending && created.value.id < 0)
            try await repository.update(created.value.id) { $0.text = "edited" }
            #expect(try await repository.entities(nested).value.map(\.text) == ["1", "2", "3", "edited"])
            #expect(outbox.pending.first?.write.path == "authors/7/remarks")
            source.goOffline(false)
            outbox.retryNow()
            await outbox.drain()
            #expect(
                paths == ["GET /api/authors/7/remarks", "POST /api/authors/7/remarks", "PUT /api/remarks/4"]
            )
            let list = try await repository.entities(nested)
            #expect(!list.isPending && list.value.last == Remark(id: 4, author: 7, text: "edited"))
        }
    }

    @Test func laterProcessDeliversADraftToItsParentsList() async throws {
        source.goOffline()
        try await run { [self] repository, _ in _ = try await repository.create(draft()) }
        source.goOffline(false)
        try await run(keySeed: 2) { [self] repository, outbox in
            outbox.retryNow()
            await outbox.drain()
            #expect(paths == ["POST /api/authors/7/remarks"])
            let created = try await repository.entity(4)
            #expect(created.value.text == "four")
        }
    }

    @Test func unitOfWorkCreatesInAParentsList() async throws {
        try await run { [self] repository, outbox in
            let changes = try [7, 8].compactMap { author in
                try repository.prepareCreation(of: draft(by: author), "a remark")
            }
            try await RecordUnitOfWork(outbox: outbox).commit(changes)
            await outbox.drain()
            #expect(Set(paths) == ["POST /api/authors/7/remarks", "POST /api/authors/8/remarks"])
        }
    }

    /// A damaged or foreign record must not send a draft to another address.
    @Test func outboxSendsADraftOnlyToItsParentsList() async throws {
        try await run { [self] repository, outbox in
            source.goOffline()
            _ = try await repository.create(draft())
            let body = outbox.pending.first?.write.body
            let paths = ["authors/7/remarks", "authors/8/remarks", "remarks", "authors/7/remarks/1"]
            let handler = try #require(repository.handler)
            for (number, path) in paths.enumerated() {
                let write = OutboxWrite(endpoint: "remarks", subject: ["new"], path: path, body: body)
                #expect(handler.declares(write) == (number == 0), "\(path)")
            }
            #expect(!handler.declares(OutboxWrite(endpoint: "remarks", subject: ["new"], path: paths[0])))
            let foreign = OutboxWrite(endpoint: "remarks", subject: ["new"], path: paths[1], body: body)
            let error = await #expect(throws: RecordStoreError.self) { _ = try await outbox.accept([foreign]) }
            #expect(error?.reason == .denied)
            #expect(error?.explanation.contains("POST {parent}/remarks") == true)
        }
    }

    @Test(arguments: ["..", ".", ""]) func parentThatChangesThePathIsRefused(parent: String) async throws {
        let path: @Sendable (RemarkDTO) -> [String] = { ["authors", $0.text, "remarks"] }
        let repository = try repository(at: path)
        let error = await refusal(of: draft(parent), by: repository)
        #expect(error?.reason == .refused)
        try await run(at: path) { [self] repository, outbox in
            let error = await refusal(of: draft(parent), by: repository)
            #expect(error?.reason == .refused && outbox.pending.isEmpty)
        }
        #expect(source.requests.isEmpty)
    }

    /// An outbox stores a path as one string, so a component cannot contain a slash.
    @Test func parentWithASlashIsSentOnlyWithoutAnOutbox() async throws {
        let path: @Sendable (RemarkDTO) -> [String] = { ["authors", $0.text, "remarks"] }
        _ = try await repository(at: path).create(draft("a/b"))
        #expect(paths == ["POST /api/authors/a%2Fb/remarks"])
        try await run(at: path) { [self] repository, _ in
            let error = await refusal(of: draft("a/b"), by: repository)
            #expect(error?.reason == .refused)
        }
    }

    @Test func valueOfAnotherTypeIsNotSent() async throws {
        let repository = try repository()
        let error = await refusal(of: ["text": "four"], by: repository)
        #expect(error?.reason == .refused && error?.explanation.contains("has another type") == true)
        #expect(source.requests.isEmpty)
    }
}
