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

/// Tests that an outbox accepts and sends only writes that a handler declares.
@Suite(.timeLimit(.minutes(5)))
struct OutboxOperationTests {
    private let stage = OutboxStage()

    private func write(_ method: DataRequest.Method, _ path: String) -> OutboxWrite {
        OutboxWrite(endpoint: "posts", subject: ["7"], method: method, path: path)
    }

    @Test(arguments: [
        ("posts", "posts", true), ("posts", "posts/7", false), ("posts/*", "posts/7", true),
        ("posts/*", "posts", false), ("posts/*", "posts/7/8", false), ("posts/*", "notes/7", false), ("*", "x", true),
        ("posts/*/likes", "posts/7/likes", true), ("posts/*", "posts/..", false), ("posts/*", "posts/.", false),
        ("posts/*", "posts/", false), ("*/*", "/posts", false),
        ("posts/*", "posts/a\\b", false), ("posts/*", "posts/a\u{0}", false), ("", "", true), ("", "x", false),
        ("posts//*", "posts/7", false), ("posts/", "posts", false),
        ("posts/*", "posts//7", false), ("posts/*", "/posts/7", false), ("posts/*", "posts/7/", false),
    ])
    func operationMatchesItsPaths(pattern: String, path: String, matches: Bool) {
        #expect(OutboxOperation(.put, pattern).matches(write(.put, path)) == matches)
        #expect(!OutboxOperation(.put, pattern).matches(write(.delete, path)))
    }

    @Test func undeclaredWriteIsNotAccepted() async throws {
        let stage = stage
        let upstream = stage.upstream()
        let handler = RecordingOutboxHandler(operations: [OutboxOperation(.post, "posts")])
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [handler])
            for write in [write(.put, "posts"), write(.delete, "posts/7"), write(.post, "posts/../users")] {
                let error = await #expect(throws: RecordStoreError.self) { try await outbox.accept([write]) }
                #expect(error?.reason == .denied)
                #expect(error?.explanation.contains("“posts” declares (POST posts)") == true)
            }
            #expect(handler.events == [])
            await outbox.close()
        }
        #expect(upstream.requests.isEmpty)
    }

    /// If the endpoint only creates entities, the repository must not show an update as a new entity.
    @Test func handlerOfACreationDeclaresOnlyTheCreation() throws {
        let upstream = try Upstream.example(stage.upstream())
        let remarks = Endpoint(RemarkDTO.self, at: "remarks", creation: .remarks)
        let repository = Repository(remarks, upstream: upstream, outbox: try stage.outbox(stage.upstream()))
        let handler = try #require(repository.handler)
        #expect(handler.operations == [OutboxOperation(.post, "remarks")])
        func isDeclared(_ method: DataRequest.Method, _ path: String, entityID: String? = nil) -> Bool {
            handler.declares(
                OutboxWrite(endpoint: "remarks", subject: ["7"], method: method, path: path, entityID: entityID)
            )
        }
        #expect(isDeclared(.post, "remarks"))
        #expect(!isDeclared(.put, "remarks/7", entityID: "7") && !isDeclared(.delete, "remarks"))
    }

    /// A foreign record must not be sent with the credentials of the upstream.
    @Test(arguments: [("DELETE", "posts\\/7"), ("POST", "users"), ("POST", "posts\\/..\\/users"), ("PUT", "posts")])
    func undeclaredEntryIsHeldAndReported(method: String, path: String) async throws {
        let stage = stage
        let upstream = stage.upstream()
        let handler = RecordingOutboxHandler(operations: [OutboxOperation(.post, "posts")])
        let key = OutboxEntryName(sequence: 3, idempotencyKey: "k", subject: ["7"]).key(under: ["outbox", "entries"])
        let json = #"{"acceptedAt":1,"endpoint":"posts","method":"\#(method)","path":"\#(path)","version":2}"#
        try await stage.store.commit([.keep(StoredRecord(Array(json.utf8)), key)])
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [handler])
            // The next write of the subject waits. A write of another subject does not.
            try await outbox.accept([
                OutboxWrite(endpoint: "posts", subject: ["7"], path: "posts", body: [1]),
                OutboxWrite(endpoint: "posts", subject: ["8"], path: "posts", body: [2]),
            ])
            try await stage.timer.sleep(for: .seconds(1))
            #expect(upstream.requests.map(\.body) == [Data([2])])
            #expect(!handler.pending.contains { $0.sequence == 3 })
            let told = stage.errors.errors.compactMap { $0 as? UndeliverableEntryError }
            #expect(told.map(\.key) == [key])
            guard case .undeclared("posts", _)? = told.first?.reason else {
                Issue.record("Another error was reported: \(told).")
                return
            }
            #expect(try await outbox.contents().pending.map(\.state.description) == ["undeliverable", "waiting"])
            await #expect(throws: RecordStoreError.self) { try await outbox.retry("k") }
            #expect(try await outbox.discard("k"))
            #expect(await outbox.drain() == 0)
            await outbox.close()
        }
        #expect(upstream.done.map(\.body) == [Data([2]), Data([1])])
    }

    @Test(arguments: [DataRequest.Method.delete, .put])
    func emptyResponseToADeclaredOperationIsUsable(method: DataRequest.Method) async throws {
        let stage = stage
        let upstream = IdempotentDataFetcher(answer: { _ in DataResponse(status: 204) })
        let outbox = try stage.outbox(upstream)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [RecordingOutboxHandler(operations: [OutboxOperation(method, "posts/*")])])
            let entry = try await outbox.accept([write(method, "posts/7")])[0]
            try await outbox.settlement(of: entry)
            await outbox.close()
        }
        #expect(upstream.done.map(\.method) == [method])
        #expect(stage.errors.errors.isEmpty)
    }
}
