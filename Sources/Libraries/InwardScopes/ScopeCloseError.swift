/// What went wrong while a scope was closed. It is closed all the same.
public struct ScopeCloseError: Error, Sendable, CustomStringConvertible {
    /// One thing that went wrong.
    public struct Failure: Sendable, CustomStringConvertible {
        /// What was being closed, from the outermost scope that was closed on the way there, such as `user ada > outbox`.
        public internal(set) var path: [String]
        /// Why it did not close as it should; `nil` if it took longer than it was given, and was given up.
        public let error: (any Error)?

        /// Where and why, as a sentence without its full stop.
        public var description: String {
            "\(path.joined(separator: " > ")) \(error.map { "failed to close: \($0)" } ?? "did not close in time")"
        }

        /// This failure as it is seen from a scope around.
        func within(_ scope: String) -> Self {
            var failure = self
            failure.path.insert(scope, at: 0)
            return failure
        }
    }

    /// All that went wrong, in the order it did.
    public let failures: [Failure]

    /// The failures, each as a sentence.
    public var description: String { failures.map { "\($0)." }.joined(separator: " ") }
}
