/// A transformation of a value into another value of the same type.
///
/// ```swift
/// struct Uppercased: Plugin {
///     func applied(to text: String) async -> String { text.uppercased() }
/// }
///
/// let greeting = await Uppercased().applied(to: "hello")
/// ```
///
/// Objects that accept plugins, such as an image loader or a transfer, apply them to each value. Equal plugins must produce
/// equal results, so that results can be cached by plugin.
public protocol Plugin<Value>: Hashable, Sendable {
    /// The type of value that the plugin transforms.
    associatedtype Value: Sendable

    /// Returns the transformed value.
    ///
    /// A plugin cannot throw. A slow plugin should check for cancellation, and return early with any value if it is cancelled.
    func applied(to value: Value) async -> Value
}

/// An ordered collection of plugins. Each plugin receives the result of the previous one.
///
/// ```swift
/// var plugins = PluginCollection<String>()
/// plugins.add(CustomPlugin(identity: "lowercase") { text in text.lowercased() })
/// plugins.add(CustomPlugin(identity: "exclaim") { text in text + "!" })
/// let greeting = await plugins.applied(to: "HELLO")  // hello!
/// ```
///
/// Equal collections produce equal results. The collection computes the hash value of a plugin once, when you add it, so
/// hashing stays fast even if a plugin contains a whole image.
public struct PluginCollection<Value: Sendable>: Sendable {
    private var elements: [InstalledPlugin<Value>] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of plugins.
    public init(_ plugins: [any Plugin<Value>]) {
        for plugin in plugins { add(plugin) }
    }

    /// Adds a plugin at the end.
    public mutating func add(_ plugin: some Plugin<Value>) {
        elements.append(InstalledPlugin(plugin))
    }

    /// Removes all plugins that are equal to the given one.
    public mutating func remove(_ plugin: some Plugin<Value>) {
        let removed = InstalledPlugin(plugin)
        elements.removeAll { $0 == removed }
    }

    /// Applies all plugins in order and returns the result.
    public func applied(to value: Value) async -> Value {
        var value = value
        for element in elements { value = await element.plugin.applied(to: value) }
        return value
    }
}

extension PluginCollection: RandomAccessCollection {
    /// The position of the first plugin.
    public var startIndex: Int { 0 }
    /// The position after the last plugin.
    public var endIndex: Int { elements.count }

    /// Returns the plugin at a valid position.
    public subscript(position: Int) -> any Plugin<Value> { elements[position].plugin }

    /// Returns the first `count` plugins, or all of them if there are fewer.
    package func first(_ count: Int) -> Self {
        var first = self
        first.elements.removeLast(Swift.max(0, elements.count - count))
        return first
    }
}

extension PluginCollection: Hashable {}

/// A type-erased plugin with a stored hash value, which can be compared with any other.
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

/// A plugin that consists of a closure and an identity.
///
/// ```swift
/// let suffix = "!"
/// let exclaim = CustomPlugin(identity: ["suffix", suffix]) { text in text + suffix }
/// let greeting = await exclaim.applied(to: "hello")
/// ```
///
/// Closures cannot be compared, so the identity stands for everything that the closure does.
public struct CustomPlugin<Value: Sendable, Identity: Hashable & Sendable>: Plugin {
    /// The identity that distinguishes this plugin from others.
    public let identity: Identity
    private let step: @Sendable (Value) async -> Value

    /// Creates a plugin from a closure.
    ///
    /// - Parameters:
    ///   - identity: The identity of the plugin. It must contain everything that the closure depends on.
    ///   - step: The closure. It must return equal results for equal values.
    public init(identity: Identity, _ step: @escaping @Sendable (Value) async -> Value) {
        self.identity = identity
        self.step = step
    }

    /// Returns the result of the closure.
    public func applied(to value: Value) async -> Value { await step(value) }

    /// Returns whether the identities are equal.
    public static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
