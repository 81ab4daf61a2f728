public import Entities
public import InwardCore

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
    public func callAsFunction(_ policy: ReadPolicy = .cacheFirst) async throws(ListUsersError) -> Reading<[User]> {
        do {
            return try await users.users(policy).map(Self.inOrderOfNames)
        } catch {
            throw ListUsersError(error)
        }
    }

    private static func inOrderOfNames(_ users: [User]) -> [User] {
        // Positions change places, and not users, who consist of much.
        let names = users.map { $0.name.lowercased() }
        return users.indices.sorted { first, second in
            names[first] == names[second] ? users[first].id < users[second].id : names[first] < names[second]
        }.map { users[$0] }
    }
}

/// Why the users could not be listed.
public enum ListUsersError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The users cannot be had now; the cause says whether asking again can help.
    case unavailable(RepositoryError)
    /// Whoever has the users does not give them to this caller.
    case denied(RepositoryError)
    /// What came is no list of users.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .notFound, .unavailable, .refused, .outcomeUnknown: .unavailable(error)
            }
    }
}
