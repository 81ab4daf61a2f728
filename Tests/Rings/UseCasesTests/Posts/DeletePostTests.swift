import Entities
import InwardCore
import Testing
import UseCases
import UseCasesTesting

struct DeletePostTests {
    private let posts: InMemoryPostRepository
    private let deletePost: DeletePost

    init() throws {
        posts = InMemoryPostRepository([try .example(1), try .example(2)])
        deletePost = DeletePost(posts: posts)
    }

    private func ids() async throws -> [Post.ID] { try await posts.posts(.cacheFirst).value.map(\.id) }

    @Test func postIsDeleted() async throws {
        try await deletePost(Post.ID(1))
        #expect(try await ids() == [Post.ID(2)])
    }

    @Test func missingPostCannotBeDeleted() async throws {
        await #expect(throws: ChangePostError.notFound(Post.ID(9))) { try await deletePost(Post.ID(9)) }
        #expect(try await ids().count == 2)
    }

    @Test func anotherVersionThanExpectedIsNotDeleted() async throws {
        await #expect(throws: ChangePostError.changedElsewhere(try .example(1))) {
            try await deletePost(Post.ID(1)) { $0.title == "Old" }
        }
        #expect(try await ids().count == 2)
    }

    @Test func versionThatAppearsAfterTheCheckIsNotDeleted() async throws {
        let theirs = try Post.example(1, body: "Theirs")
        await #expect(throws: ChangePostError.changedElsewhere(theirs)) {
            try await deletePost(Post.ID(1)) { [posts] post in
                guard post.body == "Body" else { return false }
                // The condition is true for this version, and then there is another one.
                posts.put(theirs)
                return true
            }
        }
        #expect(try await ids().count == 2)
    }

    @Test func conflictReturnsTheOtherVersion() async throws {
        let theirs = try Post.example(1, body: "Theirs")
        posts.conflictOnNextEdit(with: theirs)
        await #expect(throws: ChangePostError.changedElsewhere(theirs)) { try await deletePost(Post.ID(1)) }
        #expect(try await ids().count == 2)
    }
}
