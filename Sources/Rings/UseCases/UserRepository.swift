public import Entities
public import InwardCore

/// The port through which the use cases read users.
///
/// Implementations answer from the sources that the read policy allows. They skip damaged records in lists and report them in the
/// reading. When the calling task is cancelled, they throw `RepositoryError.Reason.cancelled`.
public protocol UserRepository: Sendable {
    /// Returns all users in the order of the source. Identities are unique.
    ///
    /// - Throws: A `RepositoryError` if the list cannot be read at all.
    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]>

    /// Returns the user with the given identity.
    ///
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the user does not exist.
    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User>
}

/// The port through which the use cases read and change users. Those that only read take a ``UserRepository``.
public protocol EditableUserRepository: UserRepository {
    /// Prepares a change of a user, for a unit of work to commit.
    ///
    /// - Parameters:
    ///   - id: The identity of the user.
    ///   - change: Changes the user, but not the identity. It may be called several times.
    /// - Returns: The prepared change; `nil` if the user already is what the change makes of it.
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the user does not exist.
    func prepareUpdate(
        of id: User.ID,
        _ change: @escaping @Sendable (inout User) -> Void
    ) async throws(RepositoryError) -> (any PreparedChange)?
}
