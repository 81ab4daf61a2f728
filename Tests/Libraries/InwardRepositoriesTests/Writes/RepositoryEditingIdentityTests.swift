import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

/// Entities with special identifiers and rules.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryEditingIdentityTests {
    private struct Label: Identifiable, Equatable, Sendable {
        let id: String
        var text: String
    }

    private struct LabelDTO: RecordDTO {
        static let listName = "labels"

        let id: String
        let text: String

        init(_ label: Label) {
            id = label.id
            text = label.text
        }

        func entity() throws(FieldError) -> Label {
            guard !text.isEmpty else { throw FieldError("text", "is empty") }
            return Label(id: id, text: text)
        }
    }

    private let stage = OutboxStage()
    private let source = RecordingDataFetcher(
        StubDataFetcher { request throws(FetchError) in
            guard request.method == .get else { return DataResponse(status: 204) }
            // The identifier is the last path component, as the server decodes it.
            let id = request.url.path(percentEncoded: true).split(separator: "/").last?.removingPercentEncoding ?? ""
            return DataResponse(body: (try? JSONEncoder().encode(["id": id, "text": "old"])) ?? Data())
        }
    )

    private var writes: [String] {
        source.requests.filter { $0.method != .get }.map { "\($0.method) \($0.url.path(percentEncoded: true))" }
    }

    private func endpoint(_ one: (@Sendable (String) -> [String])? = nil) -> Endpoint<Label> {
        Endpoint(LabelDTO.self, at: "labels", one: one, editing: Editing(.put))
    }

    private func run(
        _ endpoint: Endpoint<Label>,
        _ body: @escaping @Sendable (Repository<Label>, Outbox) async throws -> Void
    ) async throws {
        let outbox = try stage.outbox(source)
        let repository = Repository(endpoint, upstream: try .example(source), outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            try await body(repository, outbox)
            await outbox.close()
        }
    }

    @Test(arguments: ["é", "a b", "50%", "a%2Fb", "a?b", "ü/".replacing("/", with: "")])
    func identifierStaysOneComponentOfAStoredPath(id: String) async throws {
        try await run(endpoint()) { [self] repository, outbox in
            try await repository.update(id) { $0.text = "new" }
            try await repository.delete(id)
            await outbox.drain()
            let paths = writes.map {
                $0.split(separator: " ").last?.split(separator: "/").last?.removingPercentEncoding
            }
            #expect(paths == [id, id] && outbox.counts.refused == 0)
        }
    }

    @Test(arguments: ["a/b", "/", "a\\b", "\n", ""])
    func identifierThatCannotBeStoredInAPathIsRefused(id: String) async throws {
        try await run(endpoint()) { [self] repository, outbox in
            let error = await #expect(throws: WriteError<Label>.self) { try await repository.delete(id) }
            #expect(error?.repositoryError.reason == .refused)
            await #expect(throws: RepositoryError.self) { try await repository.prepareDeletion(of: id, "a deletion") }
            #expect(writes.isEmpty && outbox.pending.isEmpty)
        }
    }

    @Test func writesGoToTheEntitysOwnAddress() async throws {
        try await run(endpoint { ["label", $0, "content"] }) { [self] repository, outbox in
            // The stub answers with the last component as the identifier.
            try await repository.delete("content")
            await outbox.drain()
            #expect(writes == ["DELETE /api/label/content/content"])
        }
    }

    /// A damaged or foreign record must not send credentials to another address.
    @Test func writesForAnotherAddressAreRefused() async throws {
        try await run(endpoint()) { repository, outbox in
            for (path, id) in [
                ("labels/8", "7"), ("users/7", "7"), ("labels", "7"), ("labels/7", nil), ("labels/..", ".."),
            ] {
                let write = OutboxWrite(
                    endpoint: "labels",
                    subject: ["labels", "7"],
                    method: .delete,
                    path: path,
                    entityID: id
                )
                let error = await #expect(throws: RecordStoreError.self) { try await outbox.accept([write]) }
                #expect(error?.reason == .denied, "\(path)")
            }
            _ = repository
        }
    }

    @Test func updateThatBreaksARuleIsRefused() async throws {
        try await run(endpoint()) { [self] repository, outbox in
            let error = await #expect(throws: WriteError<Label>.self) {
                try await repository.update("7") { $0.text = "" }
            }
            #expect(error?.description.hasSuffix("was not sent: its field “text” is empty") == true)
            #expect(outbox.pending.isEmpty && writes.isEmpty)
        }
    }
}
