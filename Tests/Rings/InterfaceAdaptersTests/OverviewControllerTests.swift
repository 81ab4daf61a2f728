import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OverviewControllerTests {
    private func overview(
        users: InMemoryUserRepository,
        posts: InMemoryPostRepository
    ) -> OverviewController {
        OverviewController(
            listUsers: ListUsers(users: users),
            readFeed: ReadFeed(posts: posts, users: users),
            source: "the example",
            stopwatch: Stopwatch(SteppingClock(step: .milliseconds(12)))
        )
    }

    @Test func usersAndFeedAreShownWithTheirOrigins() async throws {
        let rejected = [RejectedRecord(list: "users", position: 3, field: "id", reason: "is missing")]
        let users = InMemoryUserRepository([try .example(1, name: "Ada")], rejected: rejected)
        let posts = InMemoryPostRepository([try .example(1), try .example(2)])
        let overview = try await overview(users: users, posts: posts)()
        #expect(overview.provenance == "Read 1 users (from memory) and 2 posts (from memory) of the example in 12 ms.")
        let blocks = overview.document.blocks
        #expect(blocks.first == .heading("Users"))
        #expect(blocks.contains(.heading("Feed: 2 of 2 posts, the newest first")))
        #expect(blocks.suffix(2) == [.notes(["Left out: users[3].id is missing"]), .paragraph(overview.provenance)])
        #expect(overview.document.title == "Users and posts")
    }

    @Test func generatorIsTheFirstKeyInJSON() async throws {
        let overview = try await overview(users: InMemoryUserRepository(), posts: InMemoryPostRepository())()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(overview), as: UTF8.self)
        #expect(json.hasPrefix(#"{"_generator":"inward","feed":{"#), "\(json)")
    }

    @Test(.timeLimit(.minutes(5)))
    func usersAndFeedAreLoadedConcurrently() async throws {
        // The list and the feed share one request for the users. That request and the one for the posts must meet.
        let meeting = Rendezvous(of: 2)
        let upstream = try Upstream.example(
            StubDataFetcher { _ throws(FetchError) in
                await meeting.arrive()
                return DataResponse(body: Data("[]".utf8))
            }
        )
        let users = UpstreamUserRepository(upstream: upstream)
        let controller = OverviewController(
            listUsers: ListUsers(users: users),
            readFeed: ReadFeed(posts: UpstreamPostRepository(upstream: upstream), users: users),
            source: "the example",
            stopwatch: Stopwatch(SteppingClock(step: .zero))
        )
        #expect(try await controller().feed.postsRead == 0)
        #expect(!Task.isCancelled)
    }

    @Test func eachListHasItsOwnOrigin() async throws {
        let posts = UpstreamPostRepository(upstream: try .example(answering: "[]"))
        let users = InMemoryUserRepository()
        let controller = OverviewController(
            listUsers: ListUsers(users: users),
            readFeed: ReadFeed(posts: posts, users: users),
            source: "the example",
            stopwatch: Stopwatch(SteppingClock(step: .zero))
        )
        #expect(try await controller().provenance.contains("0 users (from memory) and 0 posts (from upstream)"))
    }

    @Test func originOfUsersIsTheFarthestOfListAndFeed() async throws {
        let body = #"[{"id":1,"name":"Ada","username":"ada","email":"ada@example.org"}]"#
        let controller = OverviewController(
            listUsers: ListUsers(users: InMemoryUserRepository([try .example(1)])),
            readFeed: ReadFeed(
                posts: InMemoryPostRepository(),
                users: UpstreamUserRepository(upstream: try .example(answering: body))
            ),
            source: "the example",
            stopwatch: Stopwatch(SteppingClock(step: .zero))
        )
        let overview = try await controller()
        #expect(overview.provenance.contains("1 users (from upstream) and 0 posts (from memory)"))
        #expect(overview.users.origin == "upstream")
    }

    @Test func failureOfEitherPartFailsTheOverview() async throws {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let users = InMemoryUserRepository([try .example()])
        let posts = InMemoryPostRepository([try .example()])
        posts.fail(with: failure)
        let ofPosts = await #expect(throws: FailureViewModel.self) { try await overview(users: users, posts: posts)() }
        #expect(ofPosts?.summary == "The feed could not be read")
        posts.fail(with: nil)
        users.fail(with: failure)
        let ofUsers = await #expect(throws: FailureViewModel.self) { try await overview(users: users, posts: posts)() }
        #expect(ofUsers?.summary == "The users could not be listed")
    }
}
