/// A step from a value to a value of the same type, installed where it does its work without anybody asking for it.
///
/// A plugin is its value: two that are equal do the same, so what it makes can be kept under it.
public protocol Plugin<Value>: Hashable, Sendable {
    /// What it changes.
    associatedtype Value: Sendable

    /// What it makes of a value. One that takes long gives up when the task is cancelled, with whatever it has.
    func applied(to value: Value) async -> Value
}

/// Plugins in the order they were added, each applied to what the one before it made.
///
/// Equal collections do the same. They are compared and hashed by what was remembered of each plugin when it was added, so
/// that neither takes longer for a plugin that is a whole image.
public struct PluginCollection<Value: Sendable>: Sendable {
    private var elements: [InstalledPlugin<Value>] = []

    /// Makes a collection without any.
    public init() {}

    /// Makes a collection of these.
    public init(_ plugins: [any Plugin<Value>]) {
        for plugin in plugins { add(plugin) }
    }

    /// Adds a plugin behind the others.
    public mutating func add(_ plugin: some Plugin<Value>) {
        elements.append(InstalledPlugin(plugin))
    }

    /// Removes every plugin that is equal to one.
    public mutating func remove(_ plugin: some Plugin<Value>) {
        let removed = InstalledPlugin(plugin)
        elements.removeAll { $0 == removed }
    }

    /// What all of them make of a value, one after the other.
    public func applied(to value: Value) async -> Value {
        var value = value
        for element in elements { value = await element.plugin.applied(to: value) }
        return value
    }
}

extension PluginCollection: RandomAccessCollection {
    /// The position of the first plugin.
    public var startIndex: Int { 0 }
    /// The position behind the last plugin.
    public var endIndex: Int { elements.count }

    /// The plugin at a position, which must be one of ``startIndex`` up to but not including ``endIndex``.
    public subscript(position: Int) -> any Plugin<Value> { elements[position].plugin }

    /// The first so many of them, or all if there are fewer.
    package func first(_ count: Int) -> Self {
        var first = self
        first.elements.removeLast(Swift.max(0, elements.count - count))
        return first
    }
}

extension PluginCollection: Hashable {}

/// A plugin that can be compared with any other, and whose hash value is known.
struct InstalledPlugin<Value: Sendable>: Hashable {
    let plugin: any Plugin<Value>
    private let hash: Int

    init(_ plugin: some Plugin<Value>) {
        self.plugin = plugin
        hash = plugin.hashValue
    }

    static func == (left: Self, right: Self) -> Bool {
        left.hash == right.hash && left.plugin.isEqual(to: right.plugin)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

extension Plugin {
    fileprivate func isEqual(to other: any Plugin<Value>) -> Bool {
        (other as? Self) == self
    }
}

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
