/// Something was asked of a scope that is closed, or is being closed.
public struct ScopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scope, by its lifetime and name, such as `user ada`.
    public let scope: String

    init(closed scope: String) {
        self.scope = scope
    }

    /// Which scope it is, as a sentence without its full stop.
    public var description: String { "\(scope) is closed" }
}
