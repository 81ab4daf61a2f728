import Entities
import InwardCore
import Testing
import UseCasesTesting

struct UserAndPostRepositoryTests {
    @Test func publishedPostHasTheNextIdentifier() async throws {
        let posts = InMemoryPostRepository([try .example(7)])
        let post = try await posts.publish(PostDraft(authorID: User.ID(2), title: "Notes", body: "x")).value
        #expect(post.id == Post.ID(8))
        #expect(try await posts.posts(by: User.ID(2), .cacheFirst).value == [post])
        #expect(try await posts.posts(.cacheFirst).value.count == 2)
    }

    @Test func failureLastsUntilItIsCleared() async throws {
        let failure = RepositoryError(.denied, request: "x", explanation: "failed")
        let users = InMemoryUserRepository([try .example(1)])
        users.fail(with: failure)
        await #expect(throws: failure) { try await users.user(User.ID(1), .cacheFirst) }
        users.fail(with: nil)
        #expect(try await users.user(User.ID(1), .cacheFirst).origin == .memory)
        let error = await #expect(throws: RepositoryError.self) { try await users.user(User.ID(2), .cacheFirst) }
        #expect(error?.reason == .notFound)
    }

    @Test func cancelledTaskGetsNoAnswer() async throws {
        let users = InMemoryUserRepository()
        let posts = InMemoryPostRepository()
        await withTaskGroup { group in
            group.addTask {
                while !Task.isCancelled { await Task.yield() }
                let error = await #expect(throws: RepositoryError.self) { try await users.users(.cacheFirst) }
                #expect(error?.reason == .cancelled)
                let other = await #expect(throws: RepositoryError.self) { try await posts.posts(.cacheFirst) }
                #expect(other?.reason == .cancelled)
            }
            group.cancelAll()
        }
    }
}
