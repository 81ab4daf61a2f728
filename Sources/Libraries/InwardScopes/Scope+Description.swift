import InwardCore

extension Scope: CustomStringConvertible {
    /// The tree of the scope: its objects with their references, and the scopes inside it.
    ///
    /// It shows the names and types of the objects, and the descriptions of error handlers, but no other contents.
    public var description: String { tree(seenFrom: ObjectNames()).description }

    func tree(seenFrom outer: ObjectNames) -> ScopeTree {
        let (objects, children, phase) = snapshot
        var names = outer
        if let objects { names.add(propertiesOf: objects, prefix: "") }
        let listed = objects.map { Mirror(reflecting: $0).children.compactMap { object($0, names, outer) } } ?? []
        var namesFromInside = outer
        if let objects { namesFromInside.add(propertiesOf: objects, prefix: "\(Level.name).") }
        return ScopeTree(
            title: title,
            phase: phase,
            objects: listed,
            children: children.map { $0.tree(seenFrom: namesFromInside) }
        )
    }

    private func object(_ child: Mirror.Child, _ names: ObjectNames, _ outer: ObjectNames) -> ScopeTree.Object? {
        guard let label = child.label, !isNothing(child.value) else { return nil }
        if let name = outer.name(of: child.value) { return .init(name: label, kind: name, held: []) }
        var value = child.value
        if let object = value as? any DescribedOnFirstUse {
            guard let created = object.created else {
                return .init(name: label, kind: "\(object.typeName), not used yet", held: [])
            }
            value = created
        }
        // An error handler's description lists its stages in order.
        let kind = (value as? any ErrorHandler)?.description ?? "\(type(of: value))"
        return .init(name: label, kind: kind, held: names.held(by: value))
    }

    /// Returns whether a value is an optional that is `nil`.
    private func isNothing(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}

/// The description of a scope, its objects, and the scopes inside it.
struct ScopeTree: CustomStringConvertible {
    /// An object of the scope.
    struct Object {
        let name: String
        /// The object's type or description. If it belongs to an enclosing scope, its name there.
        let kind: String
        /// The names of the objects that it references, in this scope or in enclosing ones.
        let held: [String]
    }

    let title: String
    /// The phase: `opening`, `open`, `closing` or `closed`.
    let phase: String
    let objects: [Object]
    let children: [ScopeTree]

    /// One line for each scope and each object, indented by depth.
    var description: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        let inside = objects.map { object in
            let held = object.held.isEmpty ? "" : ", holds \(object.held.joined(separator: ", "))"
            return "\(object.name): \(object.kind)\(held)"
        }
        return ["\(title) (\(phase))"] + (inside + children.flatMap(\.lines)).map { "  \($0)" }
    }
}

/// The names of the objects in a scope and in its enclosing scopes, by object identity.
struct ObjectNames {
    private var names: [ObjectIdentifier: String] = [:]

    /// Names the references among the stored properties of a value.
    ///
    /// - Parameters:
    ///   - objects: The value whose properties are named.
    ///   - prefix: A prefix for each name, such as `user.`.
    mutating func add(propertiesOf objects: Any, prefix: String) {
        for child in Mirror(reflecting: objects).children {
            guard let label = child.label, let identity = Self.identity(of: child.value) else { continue }
            // Objects from an enclosing scope keep the names they have there.
            if names[identity] == nil { names[identity] = prefix + label }
        }
    }

    /// Returns the name of an object, or `nil` if it has no name or is a value.
    func name(of object: Any) -> String? {
        Self.identity(of: object).flatMap { names[$0] }
    }

    /// Returns the names of the objects that a value references, each once, in the order found.
    ///
    /// The search does not continue inside objects that have a name.
    func held(by value: Any) -> [String] {
        var found: [String] = []
        var seen: Set<ObjectIdentifier> = []
        search(value, depth: 0, isRoot: true, &seen, &found)
        return found
    }

    /// Searches stored properties by reflection. It does not find references that closures capture.
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
        for child in Mirror(reflecting: value).children.prefix(Self.maximumChildren) {
            search(child.value, depth: depth + 1, isRoot: false, &seen, &found)
        }
    }

    private static let greatestDepth = 8
    private static let maximumChildren = 32

    /// Returns the identity of a reference, or `nil` for a value.
    private static func identity(of value: Any) -> ObjectIdentifier? {
        let value = (value as? any DescribedOnFirstUse)?.created ?? value
        return type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject) : nil
    }
}
