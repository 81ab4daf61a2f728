public import Entities
public import UseCases

/// Gets users from an upstream that keeps them as JSON, a list at `users` and each by its identity at `users/7`.
public struct UpstreamUserRepository: UserRepository {
    private let upstream: Upstream

    /// Makes a repository of the users that an upstream has.
    public init(upstream: Upstream) {
        self.upstream = upstream
    }

    /// All users in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if the upstream has no list to give.
    public func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await upstream.list(UserDTO.self, path: "users", policy)
    }

    /// The user of this identity.
    ///
    /// - Throws: a `RepositoryError`, also if the record is damaged or is another user's.
    public func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        let reading = try await upstream.one(UserDTO.self, path: "users/\(id)", policy)
        guard reading.value.id == id else {
            throw RepositoryError(
                .unreadable,
                request: "User \(id)",
                explanation: "was asked for, and the upstream gave user \(reading.value.id)"
            )
        }
        return reading
    }
}
