/// What keeps a value from being written as JSON.
public struct JSONTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in a sentence.
    public let explanation: String

    /// What is wrong.
    public var description: String { explanation }
}
