/// How often a request was tried, and why no more.
public struct RetryReport: Hashable, Sendable, CustomStringConvertible {
    /// How many attempts were made, at least 1.
    public let attempts: Int
    /// Why no other one was made, as a part of a sentence: `the most allowed`.
    public let ending: String

    /// Says how often a request was tried, and why no more.
    public init(attempts: Int, ending: String) {
        self.attempts = attempts
        self.ending = ending
    }

    /// The number of attempts and why there are no more, such as `3 attempts, the most allowed`.
    public var description: String { "\(attempts) \(attempts == 1 ? "attempt" : "attempts"), \(ending)" }
}
