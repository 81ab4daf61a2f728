/// Why a store could not do what it was asked for.
public struct RecordStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which kind of failure it is.
    public enum Reason: Hashable, Sendable {
        /// The store or its disk is full.
        case full
        /// It may not be done.
        case denied
        /// Somebody else owns it.
        case busy
        /// It is closed.
        case closed
        /// The task was cancelled, or its deadline passed, before it was begun.
        case cancelled
        /// Anything else.
        case unavailable
    }

    /// Which kind of failure it is.
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
