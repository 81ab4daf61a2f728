/// The port that makes changes to several repositories one.
///
/// A repository prepares a change, which changes nothing yet; a unit of work commits several, of one repository or of many:
///
///     let post = try await posts.prepareToPublish(draft)
///     let note = try await notes.prepareToRemove(noteID)
///     try await unitOfWork.commit([post, note])
///
/// It is values and calls alone: nothing is found around, and what was not handed over is not part of it.
///
/// Whoever implements it makes all of the changes or none, also when the process ends in the middle; they are as durable as the
/// place where they are kept when the call returns, and the readers of all the repositories see them then. Who reads two of them
/// while it is being called may find the changes in one and not yet in the other. Calls may come from anywhere at the same time.
/// `UnitOfWorkConformance` in `InwardTesting` checks all this.
public protocol UnitOfWork: Sendable {
    /// Makes changes in their order, all of them or none.
    ///
    /// A change may be committed again after a commit that failed. One that is committed twice is made twice.
    ///
    /// - Throws: a ``UnitOfWorkError`` if nothing was changed. A task that is cancelled meanwhile still gets them made, unless
    ///   it is ``UnitOfWorkError/Reason/cancelled``.
    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError)
}

/// A change that a repository has prepared and nobody has made yet: for a ``UnitOfWork`` to commit.
///
/// What it says is between the repository and the unit of work. To everybody else it is a value that is handed on, and may be
/// dropped: then nothing happens.
///
/// Its description says what is changed, as a part of a sentence: `the publication of a post`. Free of credentials.
public protocol PreparedChange: Sendable, CustomStringConvertible {}

/// Why a unit of work was not done. Nothing was changed.
public struct UnitOfWorkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that a caller can tell apart. More may be added without breaking anybody.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// Closed within this module, so that a use case can map each kind on purpose.
        enum Code: String, Hashable {
            case cancelled
            case closed
            case foreign
            case denied
            case full
            case unavailable
        }

        let code: Code

        /// The caller gave up, or its deadline passed, before anything was changed.
        public static let cancelled = Self(code: .cancelled)
        /// What the unit of work belonged to has ended, such as a session that was signed out.
        public static let closed = Self(code: .closed)
        /// One of the changes was prepared for another unit of work.
        public static let foreign = Self(code: .foreign)
        /// It may not be done.
        public static let denied = Self(code: .denied)
        /// There is no room for the changes.
        public static let full = Self(code: .full)
        /// The changes cannot be made durable now.
        public static let unavailable = Self(code: .unavailable)

        /// The kind's name.
        public var description: String { code.rawValue }
    }

    /// What kind of failure this is.
    public let reason: Reason
    /// What happened, and what to do, as a sentence.
    public let explanation: String

    /// Makes an error of its kind and what happened.
    public init(_ reason: Reason, explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// What happened.
    public var description: String { explanation }
}
