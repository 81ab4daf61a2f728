import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import UseCasesTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct UpstreamPostRepositoryTests {
    private let list = """
        [{"userId": 1, "id": 1, "title": "One", "body": "1"}, {"userId": 2, "id": 12, "title": "Two", "body": "2"},
         {"userId": 1, "id": 3, "title": " ", "body": "3"}, {"userId": 1, "id": 4, "title": "Four", "body": ""},
         {"id": 5, "title": "Five", "body": "5"}]
        """

    @Test func recordsAreDecodedAsPosts() async throws {
        let reading = try await UpstreamPostRepository(upstream: .example(answering: list)).posts(.cacheFirst)
        #expect(
            try reading.value == [
                .example(1, by: 1, title: "One", body: "1"), .example(12, by: 2, title: "Two", body: "2"),
            ]
        )
        #expect(
            reading.rejected.map(\.description) == [
                "posts[2].title breaks a rule: A post's title must not be blank.",
                "posts[3].body breaks a rule: A post's body must not be blank.", "posts[4].userId is missing",
            ]
        )
    }

    @Test func onlyPostsOfTheAuthorAreRequestedAndReturned() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data(list.utf8))))
        let reading = try await UpstreamPostRepository(upstream: .example(source)).posts(by: User.ID(2), .cacheFirst)
        #expect(reading.value.map(\.id.rawValue) == [12])
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/posts?userId=2"])
    }

    @Test func upstreamOnlySendsNoCache() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data("[]".utf8))))
        let repository = UpstreamPostRepository(upstream: try .example(source))
        _ = try await repository.posts(.upstreamOnly)
        _ = try await repository.posts(by: User.ID(1), .upstreamOnly)
        _ = try await repository.posts(by: User.ID(2), .cacheFirst)
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", "no-cache", nil])
    }

    @Test(.timeLimit(.minutes(5))) func pendingPostsHaveGreaterIdentitiesThanPublishedOnes() async throws {
        let upstream = try Upstream.example(
            StubDataFetcher { request throws(FetchError) in
                // No second participant arrives, so the wait ends only when it is cancelled.
                await Rendezvous(of: 2).arrive()
                throw FetchError(.cancelled, request: request, explanation: "was cancelled")
            }
        )
        let timer = TimerService(ManualClock())
        let store = InMemoryRecordStore(now: { Date(timeIntervalSinceReferenceDate: 800_000_000) })
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: RecordingErrorHandler())
        let posts = Repository(.posts(), upstream: upstream, outbox: outbox, timer: timer)
        try await outbox.open(handlers: [posts.handler])
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "On engines")
        let reading = try await UpstreamPostRepository(posts).publish(draft)
        #expect(reading.isPending)
        // The identity is below 2^53, so every JSON parser reads it exactly.
        #expect((1 << 52..<1 << 53).contains(reading.value.id.rawValue))
        await outbox.close()
    }

    @Test func draftIsSentOnceAndBecomesAPost() async throws {
        let answer = DataResponse(status: .created, body: Data(#"{"id": 101, "title": "ignored"}"#.utf8))
        let source = RecordingDataFetcher(StubDataFetcher(answer))
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes \"1\"", body: "On\nengines")
        let post = try await UpstreamPostRepository(upstream: .example(source)).publish(draft).value
        #expect(post == draft.published(as: Post.ID(101)))
        let request = try #require(source.requests.first)
        #expect(source.requests.count == 1)
        #expect(request.method == .post)
        #expect(request.url.absoluteString == "http://upstream.test/api/posts")
        #expect(request.headerFields[.contentType] == "application/json; charset=utf-8")
        let sent = try JSONDecoder().decode(Sent.self, from: #require(request.body))
        #expect(sent == Sent(userId: 7, title: "Notes \"1\"", body: "On\nengines"))
    }

    private struct Sent: Decodable, Equatable {
        let userId: Int
        let title: String
        let body: String
    }

    @Test(arguments: ["", "[]", "{}", #"{"id": null}"#, #"{"id": "x"}"#, "<html>"])
    func publicationWithoutAnIdentityHasAnUnknownOutcome(body: String) async throws {
        let repository = UpstreamPostRepository(upstream: try .example(answering: body, status: .created))
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "x")
        let error = await #expect(throws: RepositoryError.self) { try await repository.publish(draft) }
        #expect(error?.reason == .outcomeUnknown)
        #expect(error?.explanation.hasPrefix("was accepted, but the response cannot be used: it") == true)
    }

    /// An upstream that has one post with an entity tag, and answers changes with a status.
    private func editable(
        answeringWrites status: DataResponse.Status = .ok
    ) throws -> (UpstreamPostRepository, RecordingDataFetcher) {
        let body = Data(#"{"userId": 1, "id": 3, "title": "Three", "body": "3"}"#.utf8)
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                guard request.method == .get else { return DataResponse(status: status) }
                return DataResponse(headerFields: [HeaderField(.etag, "\"v1\"")], body: body)
            }
        )
        return (UpstreamPostRepository(upstream: try .example(source)), source)
    }

    @Test func changeIsSentAsAPatchForTheVersionThatWasRead() async throws {
        let (repository, source) = try editable()
        #expect(
            try await repository.post(Post.ID(3), .cacheFirst).value == .example(3, by: 1, title: "Three", body: "3")
        )
        let draft = try PostDraft(authorID: User.ID(1), title: "Three", body: "Third")
        let changed = try await repository.update(Post.ID(3)) { $0 = draft.published(as: $0.id) }
        #expect(changed.value.body == "Third")
        let request = try #require(source.requests.last)
        #expect(request.method == .patch)
        #expect(request.url.absoluteString == "http://upstream.test/api/posts/3")
        #expect(request.headerFields[.ifMatch] == "\"v1\"")
        #expect(try String(decoding: #require(request.body), as: UTF8.self) == #"{"body":"Third"}"#)
    }

    @Test func deletionIsSentForTheVersionThatWasRead() async throws {
        let (repository, source) = try editable()
        _ = try await repository.post(Post.ID(3), .cacheFirst)
        try await repository.delete(Post.ID(3)) { $0.title == "Three" }
        let request = try #require(source.requests.last)
        #expect(request.method == .delete)
        #expect(request.url.absoluteString == "http://upstream.test/api/posts/3")
        #expect(request.headerFields[.ifMatch] == "\"v1\"")
    }

    @Test func laterVersionOfTheUpstreamIsAConflict() async throws {
        let (repository, _) = try editable(answeringWrites: 412)
        let draft = try PostDraft(authorID: User.ID(1), title: "Three", body: "Third")
        let update = await #expect(throws: RepositoryError.self) {
            try await repository.update(Post.ID(3)) { $0 = draft.published(as: $0.id) }
        }
        #expect(update?.reason == .conflict)
        let deletion = await #expect(throws: RepositoryError.self) {
            try await repository.delete(Post.ID(3)) { _ in true }
        }
        #expect(deletion?.reason == .conflict)
        let unexpected = await #expect(throws: RepositoryError.self) {
            try await repository.delete(Post.ID(3)) { _ in false }
        }
        #expect(unexpected?.reason == .conflict)
    }
}
