public import Entities
public import InwardCore
public import InwardImages
public import InwardRepositories
public import UseCases

/// Gets users from an upstream, and from what is kept of its answers.
public struct UpstreamUserRepository: UserRepository {
    private let repository: Repository<User>

    /// Makes a repository of the users that an upstream has, with a memory of its own.
    public init(upstream: Upstream) {
        self.init(Repository(.users(), upstream: upstream))
    }

    /// Makes a repository of the users that another keeps.
    public init(_ repository: Repository<User>) {
        self.repository = repository
    }

    /// All users in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(1) if they are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if there is no list to be had.
    public func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await repository.entities(.all, policy)
    }

    /// The user of this identity.
    ///
    /// - Throws: a `RepositoryError`, also if the record is damaged or is another user's.
    public func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await repository.entity(id, policy)
    }
}

extension Endpoint<User> {
    /// The users of an upstream that keeps them as JSON, a list at `users` and each by its identity at `users/7`.
    ///
    /// - Parameter lifetimes: How long its answers are fresh, and how long they are kept.
    /// - Returns: the endpoint.
    public static func users(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(UserDTO.self, at: "users", lifetimes: lifetimes)
    }
}

extension ImageAddress {
    /// Where an upstream has the image of a user, relative to its own address.
    public static func avatar(of user: User.ID) -> ImageAddress {
        ImageAddress("avatars/\(user.rawValue).jpg")
    }
}
