import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardScopes
import UseCases

extension Scope where Level == InteractionLifetime, Objects == Interaction {
    /// Queries a repository while the interaction is open and before its deadline.
    ///
    /// When the interaction closes or its deadline passes, a request in flight is cancelled. Later requests fail without
    /// reaching the repository.
    ///
    /// - Parameters:
    ///   - request: What is requested, as the subject of an error message.
    ///   - writes: Whether the request may have had an effect even if there is no answer.
    ///   - ask: Sends the request to a repository.
    /// - Returns: the answer.
    /// - Throws: the error that `ask` throws, or a `RepositoryError` if the answer came too late.
    func asking<Value: Sendable>(
        _ request: String,
        writes: Bool = false,
        _ ask: @escaping @Sendable (Interaction) async throws(RepositoryError) -> Value
    ) async throws(RepositoryError) -> Value {
        let result: Result<Result<Value, RepositoryError>?, Never>
        do {
            result = try await run { interaction in
                await interaction.deadline.bound { () async throws(RepositoryError) in try await ask(interaction) }
            }
        } catch {
            guard error.workBegan else {
                throw RepositoryError(.closed, request: request, explanation: "was not asked for: \(error)")
            }
            throw RepositoryError(
                writes ? .outcomeUnknown : .unavailable,
                request: request,
                explanation: "came to an end too late: \(error)"
            )
        }
        guard let answer = result.get() else {
            throw RepositoryError(
                writes ? .outcomeUnknown : .unavailable,
                request: request,
                explanation: "was not answered before the deadline",
                canRetry: !writes
            )
        }
        return try answer.get()
    }
}

/// The session's user repository, for one interaction.
///
/// It holds the scope rather than the scope's objects, so retaining it keeps nothing else alive.
struct ScopedUserRepository: UserRepository {
    let scope: Scope<InteractionLifetime, Interaction>

    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await scope.asking("The list of users") { interaction async throws(RepositoryError) in
            try await interaction.users.users(policy)
        }
    }

    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await scope.asking("User \(id)") { interaction async throws(RepositoryError) in
            try await interaction.users.user(id, policy)
        }
    }
}

/// The session's post repository, for one interaction.
///
/// It holds the scope rather than the scope's objects, so retaining it keeps nothing else alive.
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

/// A data fetcher that works while a scope is open and before an optional deadline.
///
/// When the scope closes or the deadline passes, a request in flight is cancelled. Later requests fail and are not sent. The
/// fetcher holds the scope rather than the scope's objects, so retaining it keeps nothing else alive.
struct ScopedDataFetcher<Level: Lifetime, Objects: Sendable>: DataFetcher {
    let scope: Scope<Level, Objects>
    let deadline: Deadline?
    /// Returns the wrapped fetcher, which is one of the scope's objects.
    let base: @Sendable (Objects) -> any DataFetcher

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let result: Result<DataResponse, FetchError>
        do {
            result = try await scope.run { [deadline, base] objects async throws(FetchError) in
                let base = base(objects)
                guard let deadline else { return try await base.fetch(request) }
                let result = await deadline.bound { () async throws(FetchError) in try await base.fetch(request) }
                guard let result else {
                    throw FetchError(.timedOut, request: request, explanation: "was not answered before the deadline")
                }
                return try result.get()
            }
        } catch {
            throw error.workBegan
                ? FetchError(.interrupted, request: request, explanation: "came to an end too late: \(error)")
                : FetchError(.closed, request: request, explanation: "was not sent: \(error)")
        }
        return try result.get()
    }
}
