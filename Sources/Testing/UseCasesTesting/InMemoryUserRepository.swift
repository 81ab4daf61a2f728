public import Entities
public import InwardCore
import InwardTesting
public import UseCases

/// An in-memory user repository for tests.
///
/// ```swift
/// let users = InMemoryUserRepository([try .example(1, name: "Ada Lovelace")])
/// let user = try await users.user(User.ID(1), .cacheFirst)
/// ```
public final class InMemoryUserRepository: EditableUserRepository {
    private let users: InMemoryRepository<User>

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - users: The users, in order.
    ///   - rejected: The damaged records that the list reports as omitted.
    ///   - failure: The error that calls throw, or `nil` if they succeed.
    public init(_ users: [User] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        self.users = InMemoryRepository(users, rejected: rejected, failure: failure)
    }

    /// Makes calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RepositoryError?) { users.fail(with: error) }

    /// Returns all users, in order.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try await users.entities(policy)
    }

    /// Returns the user with an ID.
    ///
    /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`.
    public func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        try await users.entity(id, policy)
    }

    /// Prepares a change of a user, to be committed by an ``InMemoryUnitOfWork``. Returns `nil` if the user would not change.
    ///
    /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`.
    public func prepareUpdate(
        of id: User.ID,
        _ change: @escaping @Sendable (inout User) -> Void
    ) async throws(RepositoryError) -> (any PreparedChange)? {
        let current = try await user(id, .cacheFirst).value
        var changed = current
        change(&changed)
        guard changed != current else { return nil }
        return InMemoryChange("the profile of user \(id)") { [users] in
            guard var user = users.contents.first(where: { $0.id == id }) else { return }
            change(&user)
            users.put(user)
        }
    }
}

extension User {
    /// Creates a valid user, with example values for omitted arguments.
    ///
    /// - Throws: A `UserError` if the name is blank.
    public static func example(_ id: Int = 1, name: String = "Ada Lovelace") throws -> User {
        try User(
            id: User.ID(id),
            name: name,
            username: "user\(id)",
            email: EmailAddress("user\(id)@example.org"),
            phone: "",
            website: "",
            address: PostalAddress(
                street: "",
                suite: "",
                city: "",
                zipcode: "",
                location: GeographicPoint(latitude: 0, longitude: 0)
            ),
            company: Company(name: "Company", catchPhrase: "", business: "")
        )
    }
}
