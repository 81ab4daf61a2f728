public import Entities

/// Lists all users as a directory would: by name, and users of one name by who came first.
public struct ListUsers: Sendable {
    private let users: any UserRepository

    /// Makes the use case over the repository that has the users.
    public init(users: any UserRepository) {
        self.users = users
    }

    /// The users in the order of their names, which ignores case.
    ///
    /// - Complexity: O(n log n) in the number of users.
    /// - Throws: a ``ListUsersError`` if there is no list to be had.
    public func callAsFunction(_ policy: ReadPolicy = .nearest) async throws(ListUsersError) -> Reading<[User]> {
        do {
            return try await users.users(policy).map(Self.inOrderOfNames)
        } catch {
            throw ListUsersError(error)
        }
    }

    private static func inOrderOfNames(_ users: [User]) -> [User] {
        users.map { (key: $0.name.lowercased(), user: $0) }
            .sorted { ($0.key, $0.user.id) < ($1.key, $1.user.id) }
            .map(\.user)
    }
}
