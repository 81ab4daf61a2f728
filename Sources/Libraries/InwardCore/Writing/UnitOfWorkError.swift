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
