/// What keeps a diagram from being a contract.
public struct DiagramError: Error, Hashable, Sendable {
    /// The line in the file, from 1; `nil` if the whole file is meant.
    public let line: Int?
    /// What is wrong and what to do, in sentences.
    public let explanation: String

    init(line: Int? = nil, _ explanation: String) {
        self.line = line
        self.explanation = explanation
    }
}

extension DiagramError: CustomStringConvertible {
    /// What is wrong and what to do, with the line if there is one.
    public var description: String { line.map { "line \($0): \(explanation)" } ?? explanation }
}
