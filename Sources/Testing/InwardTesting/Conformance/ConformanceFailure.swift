/// What an implementation of a port does that the port does not allow.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Each violation, as a whole sentence.
    public let violations: [String]

    /// The violations, one a line.
    public var description: String { violations.joined(separator: "\n") }
}
