import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct UpstreamDegradationTests {
    private let source = StubDataFetcher { request throws(FetchError) in
        let isList = ["users", "posts"].contains(request.url.lastPathComponent)
        var response = DataResponse(body: Data((isList ? "[]" : UserJSON.record()).utf8))
        // For a write, this reason would leave the outcome unknown.
        response.fallbackReason = FetchError(.interrupted, request: request, explanation: "reached nobody")
        return response
    }

    @Test func readingFromAFallbackNamesTheReason() async throws {
        let users = UpstreamUserRepository(upstream: try .example(source))
        let posts = UpstreamPostRepository(upstream: try .example(source))
        let degradations = [
            try await users.users(.cacheFirst).fallbackReason,
            try await users.user(User.ID(1), .cacheFirst).fallbackReason,
            try await posts.posts(.cacheFirst).fallbackReason,
            try await posts.posts(by: User.ID(1), .cacheFirst).fallbackReason,
        ]
        #expect(degradations.map { $0?.reason } == [.unavailable, .unavailable, .unavailable, .unavailable])
        let paths = ["users", "users/1", "posts", "posts?userId=…"]
        #expect(
            degradations.map { $0?.description } == paths.map { "GET http://upstream.test/api/\($0) reached nobody" }
        )
    }

    @Test func postsOfAnAuthorComeFromTheCachedListIfTheUpstreamIsUnavailable() async throws {
        let records = (1...4).map { #"{"userId": \#(7 + $0 % 2), "id": \#($0), "title": "t", "body": "b"}"# }
        let list = "[\(records.joined(separator: ","))]"
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.url.query() == nil, request.url.lastPathComponent == "posts" else {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody")
            }
            return DataResponse(body: Data(list.utf8))
        }
        let posts = UpstreamPostRepository(upstream: try .example(source))
        for policy in [ReadPolicy.cacheFirst, .upstreamFirst, .upstreamOnly] {
            let error = await #expect(throws: RepositoryError.self) { try await posts.posts(by: User.ID(7), policy) }
            #expect(error?.reason == .unavailable)
        }
        _ = try await posts.posts(.upstreamOnly)
        for policy in [ReadPolicy.cacheFirst, .upstreamFirst] {
            let reading = try await posts.posts(by: User.ID(7), policy)
            #expect(reading.value.map(\.id) == [Post.ID(2), Post.ID(4)])
            #expect(reading.origin == .memory)
        }
        for policy in [ReadPolicy.upstreamOnly, .upstreamFirst.notOlder(than: .seconds(-1))] {
            await #expect(throws: RepositoryError.self) { try await posts.posts(by: User.ID(7), policy) }
        }
    }

    @Test func regularReadingHasNoFallbackReason() async throws {
        let users = UpstreamUserRepository(upstream: try .example(answering: "[]"))
        #expect(try await users.users(.cacheFirst).fallbackReason == nil)
    }

    @Test func writeAnsweredByAFallbackHasAnUnknownOutcome() async throws {
        var response = DataResponse(status: .created, body: Data(#"{"id": 101}"#.utf8))
        response.fallbackReason = FetchError(.unreachable, request: try .example(), explanation: "reached nobody")
        let posts = UpstreamPostRepository(upstream: try .example(StubDataFetcher(response)))
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "On engines")
        let error = await #expect(throws: RepositoryError.self) { try await posts.publish(draft) }
        #expect(error?.reason == .outcomeUnknown)
        #expect(error?.canRetry == false)
        #expect(error?.explanation == "was answered by a fallback, so it is not known whether the upstream did it")
    }
}
