/// Something was asked of a scope that is closed, or is being closed.
public struct ScopeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scope, by its lifetime and name, such as `user ada`.
    public let scope: String

    /// Whether work had begun, so that nobody knows what has become of it.
    public let workBegan: Bool

    init(closed scope: String, workBegan: Bool = false) {
        self.scope = scope
        self.workBegan = workBegan
    }

    /// Which scope it is, as a sentence without its full stop.
    public var description: String { "\(scope) is closed" }
}
