/// There was no answer by the deadline.
public struct DeadlinePassedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `interaction 17`.
    public let subject: String

    /// Says what was not done in time.
    public init(_ subject: String) {
        self.subject = subject
    }

    /// What was not done in time, as a sentence without its full stop.
    public var description: String { "\(subject) was not done before its deadline" }
}
