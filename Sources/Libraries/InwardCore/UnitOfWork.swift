/// A type that commits changes to several repositories atomically.
///
/// A repository prepares a change without applying it. A unit of work commits prepared changes of one or more repositories:
///
/// ```swift
/// func publish(
///     _ post: any PreparedChange,
///     removing draft: any PreparedChange,
///     in unitOfWork: some UnitOfWork
/// ) async throws(UnitOfWorkError) {
///     try await unitOfWork.commit([post, draft])
/// }
/// ```
///
/// A commit contains only the changes that you pass to it.
///
/// Implementations apply all of the changes or none, even if the process ends during the commit. When the call returns,
/// the changes are as durable as the store that holds them, and all readers of the repositories see them. During the
/// call, a caller that reads two repositories may see a change in one and not yet in the other. Calls may be
/// concurrent. `UnitOfWorkConformance` in `InwardTesting` tests these requirements.
public protocol UnitOfWork: Sendable {
    /// Commits changes in order, all of them or none.
    ///
    /// After a failed commit, you can commit the same changes again. A change that is committed twice is applied twice.
    ///
    /// - Throws: A ``UnitOfWorkError`` if the commit fails. A failed commit changes nothing. Cancelling the task during the
    ///   commit either makes it fail with ``UnitOfWorkError/Reason/cancelled`` or has no effect.
    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError)
}

/// A change that a repository has prepared for a ``UnitOfWork`` to commit.
///
/// ```swift
/// struct Renaming: PreparedChange {
///     let user: User
///     var description: String { "the new name of user \(user.id)" }
/// }
/// ```
///
/// Only the repository and the unit of work know its contents. Other code passes it on, or drops it, in which case nothing
/// changes.
///
/// The description is a noun phrase that says what changes, such as `the publication of a post`. It contains no
/// credentials.
public protocol PreparedChange: Sendable, CustomStringConvertible {}

/// An error thrown when a unit of work fails. Nothing was changed.
///
/// ```swift
/// func commit(_ changes: [any PreparedChange], in unitOfWork: some UnitOfWork) async {
///     do throws(UnitOfWorkError) {
///         try await unitOfWork.commit(changes)
///     } catch {
///         print("\(error).", error.reason == .unavailable ? "Commit them again later." : "")
///     }
/// }
/// ```
public struct UnitOfWorkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that a caller can distinguish. New kinds can be added without breaking source
    /// compatibility.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for an exhaustive `switch`.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case foreign
            case denied
            case full
            case unavailable
        }

        /// The kind, for use in a `switch`.
        public let code: Code

        /// The caller was cancelled, or its deadline passed, before anything was changed.
        public static let cancelled = Self(code: .cancelled)
        /// The owner of the unit of work has ended, such as a session that was signed out.
        public static let closed = Self(code: .closed)
        /// A change was prepared for another unit of work.
        public static let foreign = Self(code: .foreign)
        /// The changes are not permitted.
        public static let denied = Self(code: .denied)
        /// There is no room for the changes.
        public static let full = Self(code: .full)
        /// The changes cannot be made durable at the moment.
        public static let unavailable = Self(code: .unavailable)

        /// The name of the kind.
        public var description: String { code.rawValue }
    }

    /// The kind of failure.
    public let reason: Reason
    /// A sentence that says what happened and what to do.
    public let explanation: String

    /// Creates an error with a kind and an explanation.
    public init(_ reason: Reason, explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The explanation.
    public var description: String { explanation }
}
