import Entities
import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

/// The posts as a session knows them, for an interaction.
///
/// It holds the scope and not the scope's objects, so keeping it keeps nothing else alive.
struct ScopedPostRepository: PostRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.asking("The list of posts") { interaction async throws(RepositoryError) in
            try await interaction.posts.posts(policy)
        }
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.asking("The list of posts by user \(author)") { interaction async throws(RepositoryError) in
            try await interaction.posts.posts(by: author, policy)
        }
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await scope.asking("Publishing the post", writes: true) { interaction async throws(RepositoryError) in
            try await interaction.posts.publish(draft)
        }
    }
}
