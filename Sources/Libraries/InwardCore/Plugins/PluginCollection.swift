/// Plugins in the order they were added, each applied to what the one before it made.
///
/// Equal collections do the same. They are compared and hashed by what was remembered of each plugin when it was added, so
/// that neither takes longer for a plugin that is a whole picture.
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
