/// A condition that asks whether a module can be imported.
public struct ModuleQuestion: Hashable, Sendable {
    /// The module.
    public let module: String
    /// The line of the question, from 1.
    public let line: Int
}
