public import Entities
public import InwardCore

/// The port through which use cases read users.
///
/// An outer ring implements it, for example over HTTP. A test passes a repository in memory:
///
/// ```swift
/// let repository: any UserRepository = try InMemoryUserRepository([.example(7)])
/// let reading = try await repository.user(User.ID(7), .cacheFirst)
/// print(reading.value.name, reading.origin)
/// ```
///
/// Implementations read only from the sources that the read policy allows. They skip damaged records in lists and report them
/// in the reading. When the calling task is cancelled, they throw `RepositoryError.Reason.cancelled`.
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

/// The port through which use cases read and change users. Use cases that only read take a ``UserRepository``.
///
/// ```swift
/// let editable: any EditableUserRepository = users
/// if let change = try await editable.prepareUpdate(of: User.ID(7), { $0.website = "ada.example.org" }) {
///     try await InMemoryUnitOfWork().commit([change])
/// }
/// ```
public protocol EditableUserRepository: UserRepository {
    /// Prepares a change of a user. Nothing is changed until a unit of work commits it.
    ///
    /// - Parameters:
    ///   - id: The identity of the user.
    ///   - change: Changes the user, but not the identity. It may be called several times.
    /// - Returns: The prepared change; `nil` if applying `change` would leave the user as it is.
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the user does not exist.
    func prepareUpdate(
        of id: User.ID,
        _ change: @escaping @Sendable (inout User) -> Void
    ) async throws(RepositoryError) -> (any PreparedChange)?
}
