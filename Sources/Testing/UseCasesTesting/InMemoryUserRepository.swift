public import Entities
public import InwardCore
import InwardTesting
import Synchronization
public import UseCases

/// A repository of users that are kept in memory, for the tests of whatever uses one.
public final class InMemoryUserRepository: UserRepository {
    private let failure: Mutex<RepositoryError?>
    private let reading: Reading<[User]>

    /// Makes a repository of these users.
    ///
    /// - Parameters:
    ///   - users: What it has, in this order.
    ///   - rejected: What it is to name as left out of the list.
    ///   - failure: What it throws instead of an answer; `nil` if it is to answer.
    public init(_ users: [User] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        reading = Reading(users, origin: .memory, rejected: rejected)
        self.failure = Mutex(failure)
    }

    /// Throws this from now on instead of answering; `nil` to answer again.
    public func fail(with error: RepositoryError?) {
        failure.withLock { $0 = error }
    }

    /// All users, in the order they were given.
    ///
    /// - Throws: the `RepositoryError` that it is to fail with, or `cancelled`.
    public func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]> {
        try RepositoryError.throwIfCancelled(asking: "All users")
        if let failure = failure.withLock(\.self) { throw failure }
        return reading
    }

    /// The user of this identity.
    ///
    /// - Throws: the `RepositoryError` that it is to fail with, `cancelled`, or `notFound`.
    public func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User> {
        let users = try await users(policy)
        guard let user = users.value.first(where: { $0.id == id }) else {
            throw RepositoryError(.notFound, request: "User \(id)", explanation: "is not in this memory")
        }
        return Reading(user, origin: .memory)
    }
}

extension User {
    /// A valid user of whom nothing matters but what is given.
    ///
    /// - Throws: a `UserError` if the name is blank.
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
