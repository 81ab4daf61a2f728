/// A write that was done, and whose answer cannot be used: what came of it has to be read.
public struct UnusableAnswerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was done.
    public let entry: OutboxEntry
    /// Why the answer cannot be used, as the end of a sentence.
    public let problem: String

    /// Names what was done, and why the answer cannot be used.
    public init(_ entry: OutboxEntry, problem: String) {
        self.entry = entry
        self.problem = problem
    }

    /// What was done and what is wrong, as a sentence without its full stop.
    public var description: String { "The write \(entry) was done, but the answer to it \(problem)" }
}
