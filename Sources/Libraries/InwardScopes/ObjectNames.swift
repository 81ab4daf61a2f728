/// What objects are called, by their identity: those of a scope and of all around it.
struct ObjectNames {
    private var names: [ObjectIdentifier: String] = [:]

    /// Names the references among the stored properties of a value, and within these where they are values themselves.
    ///
    /// - Parameters:
    ///   - objects: The value whose properties are named.
    ///   - prefix: What stands before each name, such as `user.`.
    mutating func add(propertiesOf objects: Any, prefix: String) {
        for child in Mirror(reflecting: objects).children {
            guard let label = child.label, let identity = Self.identity(of: child.value) else { continue }
            // What a scope has from one around it keeps the name it has there.
            if names[identity] == nil { names[identity] = prefix + label }
        }
    }

    /// What an object is called; `nil` if it has no name, or is a value.
    func name(of object: Any) -> String? {
        Self.identity(of: object).flatMap { names[$0] }
    }

    /// The names of the objects that a value holds, each once, in the order they are found.
    ///
    /// What holds another is not looked into, once that has a name itself.
    func held(by value: Any) -> [String] {
        var found: [String] = []
        var seen: Set<ObjectIdentifier> = []
        search(value, depth: 0, isRoot: true, &seen, &found)
        return found
    }

    /// Reflection sees what is stored, so it cannot tell anything else than what is true. It does not see into closures.
    private func search(
        _ value: Any,
        depth: Int,
        isRoot: Bool,
        _ seen: inout Set<ObjectIdentifier>,
        _ found: inout [String]
    ) {
        guard depth <= Self.greatestDepth else { return }
        if let identity = Self.identity(of: value) {
            guard seen.insert(identity).inserted else { return }
            if !isRoot, let name = names[identity] { return found.append(name) }
        }
        for child in Mirror(reflecting: value).children.prefix(Self.mostChildren) {
            search(child.value, depth: depth + 1, isRoot: false, &seen, &found)
        }
    }

    private static let greatestDepth = 8
    private static let mostChildren = 32

    /// What tells a reference from others; `nil` for a value.
    private static func identity(of value: Any) -> ObjectIdentifier? {
        type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject) : nil
    }
}
