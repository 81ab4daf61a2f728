/// A plugin of a closure, which cannot be compared, and an identity, which says what it does and can.
public struct CustomPlugin<Value: Sendable, Identity: Hashable & Sendable>: Plugin {
    /// What tells it from others.
    public let identity: Identity
    private let step: @Sendable (Value) async -> Value

    /// Makes a plugin of a closure.
    ///
    /// - Parameters:
    ///   - identity: What tells it from others: all that the closure goes by must be in it.
    ///   - step: What it makes of a value; the same of the same value.
    public init(identity: Identity, _ step: @escaping @Sendable (Value) async -> Value) {
        self.identity = identity
        self.step = step
    }

    /// What the closure makes of a value.
    public func applied(to value: Value) async -> Value { await step(value) }

    /// Whether the identities are equal.
    public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    /// Feeds the identity into a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
