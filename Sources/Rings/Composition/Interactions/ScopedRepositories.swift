import Entities
import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

/// The session's user repository, which answers while an interaction is open.
///
/// It holds the scope rather than the repository, so retaining a use case keeps nothing else alive.
struct ScopedUserRepository: UserRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await scope.objects(for: "The list of users").users.users(policy)
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await scope.objects(for: "User \(id)").users.user(id, policy)
    }
}

/// The session's post repository, which answers while an interaction is open.
///
/// It holds the scope rather than the repository, so retaining a use case keeps nothing else alive.
struct ScopedPostRepository: PostRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.objects(for: "The list of posts").posts.posts(policy)
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.objects(for: "The list of posts by user \(author)").posts.posts(by: author, policy)
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await scope.objects(for: "Publishing the post").posts.publish(draft)
    }
}

extension Scope {
    /// Returns the objects of the scope, for a request to one of them.
    ///
    /// - Parameter request: What is requested, as the subject of an error message.
    /// - Returns: the objects.
    /// - Throws: a `RepositoryError` if the scope is closed.
    fileprivate func objects(for request: String) throws(RepositoryError) -> Objects {
        do throws(ScopeError) {
            return try objects()
        } catch {
            throw RepositoryError(.closed, request: request, explanation: "was not asked for: \(error)")
        }
    }
}
