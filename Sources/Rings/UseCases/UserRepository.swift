public import Entities
public import InwardCore

/// The port through which the use cases get users.
///
/// Whoever implements it answers from wherever it keeps users, as far away as the policy allows, leaves damaged records
/// out of a list and names them in the reading, and ends a wait with `RepositoryError.Reason.cancelled` when the task
/// that asked is cancelled.
public protocol UserRepository: Sendable {
    /// All users, in the source's order. No two have the same identity.
    ///
    /// - Throws: a `RepositoryError` if there is no list to be had at all.
    func users(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[User]>

    /// The user of this identity.
    ///
    /// - Throws: a `RepositoryError`, with `RepositoryError.Reason.notFound` if there is no such user.
    func user(_ id: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<User>
}
