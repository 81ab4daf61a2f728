/// What keeps a baseline from being read.
public struct BaselineError: Error, Hashable, Sendable {
    /// What is wrong, in a sentence.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension BaselineError: CustomStringConvertible {
    /// What is wrong.
    public var description: String { explanation }
}
