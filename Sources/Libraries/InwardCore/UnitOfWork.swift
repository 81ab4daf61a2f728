/// A port that commits changes to several repositories atomically.
///
/// A repository prepares a change without applying it. A unit of work commits several prepared changes, of one
/// repository or of many:
///
///     let post = try await posts.prepareToPublish(draft)
///     let note = try await notes.prepareToRemove(noteID)
///     try await unitOfWork.commit([post, note])
///
/// The unit of work has no ambient state. It contains only the changes that you pass to it.
///
/// Implementations apply all of the changes or none, even if the process ends during the commit. When the call returns,
/// the changes are as durable as the store that holds them, and all readers of the repositories see them. During the
/// call, a caller that reads two repositories may see a change in one and not yet in the other. Calls may be
/// concurrent. `UnitOfWorkConformance` in `InwardTesting` tests these requirements.
public protocol UnitOfWork: Sendable {
    /// Commits changes in order, all of them or none.
    ///
    /// You can commit a change again after a failed commit. A change that is committed twice is applied twice.
    ///
    /// - Throws: A ``UnitOfWorkError`` if nothing was changed. If the task is cancelled during the commit, the changes
    ///   are still applied, unless the error is ``UnitOfWorkError/Reason/cancelled``.
    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError)
}

/// A change that a repository has prepared for a ``UnitOfWork`` to commit.
///
/// Only the repository and the unit of work know its contents. Other code passes it on or drops it. A dropped change
/// has no effect.
///
/// The description is a noun phrase that says what changes, such as `the publication of a post`. It contains no
/// credentials.
public protocol PreparedChange: Sendable, CustomStringConvertible {}

/// An error thrown when a unit of work fails. Nothing was changed.
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
