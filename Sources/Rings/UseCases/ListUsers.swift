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
    private let order: UserOrder

    /// Creates the use case.
    ///
    /// - Parameters:
    ///   - users: The repository of the users.
    ///   - order: Sorts the users. Pass one that lives longer than the use case, so that an unchanged list is sorted once.
    public init(users: any UserRepository, order: UserOrder = UserOrder()) {
        self.users = users
        self.order = order
    }

    /// Returns the users sorted by name, ignoring case. Users with the same name are sorted by identity.
    ///
    /// - Complexity: O(n log n) in the number of users. O(1) if the repository returns the same array as the last
    ///   time, and O(n) if it returns an equal one.
    /// - Throws: A ``ListUsersError`` if the users cannot be read.
    public func callAsFunction(_ policy: ReadPolicy = .cacheFirst) async throws(ListUsersError) -> Reading<[User]> {
        do {
            return try await users.users(policy).map(order.sorted)
        } catch {
            throw ListUsersError(error)
        }
    }
}

/// The order in which users are listed. It keeps the list that it sorted last, so that an unchanged list is not sorted again.
///
/// ```swift
/// let order = UserOrder()
/// let first = try await ListUsers(users: users, order: order)()
/// let second = try await ListUsers(users: users, order: order)()  // Compares the lists, and sorts nothing.
/// ```
public final class UserOrder: Sendable {
    private struct Lists {
        var unsorted: [User] = []
        var sorted: [User] = []
    }

    /// The list that each thread has sorted last. Threads that share one would wait for each other.
    private let last = StripedMutex(Lists())

    /// Creates an order that keeps no list yet.
    public init() {}

    /// Returns users sorted by name, ignoring case, then by identity.
    func sorted(_ users: [User]) -> [User] {
        let kept = last.withLock { last -> [User]? in
            // Arrays that share their storage are equal at once, so the latest of several equal arrays is kept.
            guard last.unsorted == users else { return nil }
            last.unsorted = users
            return last.sorted
        }
        if let kept { return kept }
        let sorted = Self.sorted(users)
        last.withLock { $0 = Lists(unsorted: users, sorted: sorted) }
        return sorted
    }

    private static func sorted(_ users: [User]) -> [User] {
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
