import Entities
import InterfaceAdapters
import InwardCore
import InwardRepositories
import InwardScopes
import UseCases

/// The session's user repository. It answers while an interaction is open.
///
/// It holds the scope instead of the repository, so a retained use case does not keep the session's objects alive.
struct ScopedUserRepository: EditableUserRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await scope.objects(for: "The list of users").users.get().users(policy)
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await scope.objects(for: "User \(id)").users.get().user(id, policy)
    }

    func prepareUpdate(
        of id: User.ID,
        _ change: @escaping @Sendable (inout User) -> Void
    ) async throws(RepositoryError) -> (any PreparedChange)? {
        try await scope.objects(for: "User \(id)").users.get().prepareUpdate(of: id, change)
    }
}

/// The session's post repository. It answers while an interaction is open.
///
/// It holds the scope instead of the repository, so a retained use case does not keep the session's objects alive.
struct ScopedPostRepository: EditablePostRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.objects(for: "The list of posts").posts.get().posts(policy)
    }

    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await scope.objects(for: "The list of posts by user \(author)").posts.get().posts(by: author, policy)
    }

    func post(_ id: Post.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Post> {
        try await scope.objects(for: "Post \(id)").posts.get().post(id, policy)
    }

    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await scope.objects(for: "Publishing the post").posts.get().publish(draft)
    }

    func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        try await scope.objects(for: "Publishing the post").posts.get().prepareToPublish(draft)
    }

    func update(
        _ id: Post.ID,
        _ change: @escaping @Sendable (inout Post) -> Void
    ) async throws(RepositoryError) -> Reading<Post> {
        try await scope.objects(for: "Post \(id)").posts.get().update(id, change)
    }

    func delete(
        _ id: Post.ID,
        if condition: @escaping @Sendable (Post) -> Bool
    ) async throws(RepositoryError) {
        try await scope.objects(for: "Post \(id)").posts.get().delete(id, if: condition)
    }
}

/// The session's unit of work. It commits while an interaction is open.
struct ScopedUnitOfWork: UnitOfWork {
    let scope: Scope<InteractionLifetime, Interaction>

    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        let unitOfWork: RecordUnitOfWork?
        do throws(ScopeError) {
            unitOfWork = try scope.objects().unitOfWork
        } catch {
            throw UnitOfWorkError(.closed, explanation: "Nothing was changed: \(error).")
        }
        guard let unitOfWork else {
            throw UnitOfWorkError(.unavailable, explanation: "Nothing was changed: the session has no store.")
        }
        try await unitOfWork.commit(changes)
    }
}

extension Scope {
    /// Returns the objects of the scope, for a request to one of them.
    ///
    /// - Parameter request: The subject of the error message, such as `The list of users`.
    /// - Returns: The objects.
    /// - Throws: A `RepositoryError` if the scope is closed.
    fileprivate func objects(for request: String) throws(RepositoryError) -> Objects {
        do throws(ScopeError) {
            return try objects()
        } catch {
            throw RepositoryError(.closed, request: request, explanation: "was not requested: \(error)")
        }
    }
}
