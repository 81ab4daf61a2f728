/// What keeps a source from being read.
public struct SourceError: Error, Hashable, Sendable {
    /// Where.
    public let location: SourceLocation
    /// What is wrong, in a sentence.
    public let explanation: String

    /// What keeps a source from being read.
    public init(location: SourceLocation, explanation: String) {
        self.location = location
        self.explanation = explanation
    }
}

extension SourceError: CustomStringConvertible {
    /// Where, and what is wrong.
    public var description: String { "\(location): \(explanation)" }
}
