public import Entities
public import InwardCore

/// A use case that lists all users by name.
///
/// ```swift
/// let listUsers = ListUsers(users: users)
/// for user in try await listUsers().value {
///     print(user.name)
/// }
/// ```
public struct ListUsers: Sendable {
    private let users: any UserRepository

    /// Creates the use case with the repository of the users.
    public init(users: any UserRepository) {
        self.users = users
    }

    /// Returns the users sorted by name, ignoring case. Users with the same name are sorted by identity.
    ///
    /// - Complexity: O(n log n) in the number of users.
    /// - Throws: A ``ListUsersError`` if the users cannot be read.
    public func callAsFunction(_ policy: ReadPolicy = .cacheFirst) async throws(ListUsersError) -> Reading<[User]> {
        do {
            return try await users.users(policy).map(Self.inOrderOfNames)
        } catch {
            throw ListUsersError(error)
        }
    }

    private static func inOrderOfNames(_ users: [User]) -> [User] {
        // Sorting indices is cheaper than moving whole users.
        let names = users.map { $0.name.lowercased() }
        return users.indices.sorted { first, second in
            names[first] == names[second] ? users[first].id < users[second].id : names[first] < names[second]
        }.map { users[$0] }
    }
}

/// An error that occurs while listing users.
///
/// ```swift
/// do {
///     print(try await listUsers().value.count)
/// } catch .unavailable(let cause) where cause.canRetry {
///     print("Try again later: \(cause)")
/// } catch {
///     print("The users cannot be listed: \(error)")
/// }
/// ```
public enum ListUsersError: Error, Hashable, Sendable {
    /// The calling task was cancelled.
    case cancelled
    /// The users are not available now. The cause says whether a retry can help.
    case unavailable(RepositoryError)
    /// The source denies this caller access to the users.
    case denied(RepositoryError)
    /// The answer is not a list of users.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .notFound, .unavailable, .refused, .conflict, .outcomeUnknown: .unavailable(error)
            }
    }
}
