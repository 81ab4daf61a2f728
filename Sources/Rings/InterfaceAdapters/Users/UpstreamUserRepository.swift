public import Entities
public import InwardCore
public import InwardImages
public import InwardRepositories
public import UseCases

/// A user repository that reads users from an upstream and its cache.
///
/// ```swift
/// let users = UpstreamUserRepository(upstream: upstream)
/// let reading = try await users.users(.cacheFirst)
/// print(reading.value.count, reading.origin)
/// ```
public struct UpstreamUserRepository: EditableUserRepository {
    private let repository: Repository<User>

    /// Creates a repository of an upstream's users, with a cache of its own.
    public init(upstream: Upstream) {
        self.init(Repository(.users(), upstream: upstream))
    }

    /// Creates a user repository on top of an existing repository.
    public init(_ repository: Repository<User>) {
        self.repository = repository
    }

    /// Returns all users in the order of the upstream. Damaged records are left out and reported in the reading.
    ///
    /// - Complexity: O(1) if the users are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: A `RepositoryError` if the list cannot be read.
    public func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await repository.entities(.all, policy)
    }

    /// Returns the user with the given identity.
    ///
    /// - Throws: A `RepositoryError` if the user cannot be read, or if the record is damaged or belongs to another user.
    public func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await repository.entity(id, policy)
    }

    /// Prepares a change of a user, which a unit of work of the repository's outbox commits.
    ///
    /// - Throws: A `RepositoryError` if the user cannot be read.
    public func prepareUpdate(
        of id: User.ID,
        _ change: @escaping @Sendable (inout User) -> Void
    ) async throws(RepositoryError) -> (any PreparedChange)? {
        try await repository.prepareUpdate(of: id, "the profile of user \(id)", change)
    }
}

extension Endpoint<User> {
    /// Returns the endpoint of the users of an upstream that serves them as JSON: the list at `users`, and each user at its
    /// identity, such as `users/7`. Changes are sent as patches, which keep concurrent changes of other fields.
    ///
    /// - Parameter lifetimes: How long cached users stay fresh, and how long they are kept.
    /// - Returns: The endpoint.
    public static func users(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(
            UserDTO.self,
            at: "users",
            lifetimes: lifetimes,
            editing: Editing(.patch, allowsDeletion: false, onConflict: .mine)
        )
    }
}

extension ImageAddress {
    /// Returns the address of a user's image, relative to the upstream's base URL.
    public static func avatar(of user: User.ID) -> ImageAddress {
        ImageAddress("avatars/\(user.rawValue).jpg")
    }
}
