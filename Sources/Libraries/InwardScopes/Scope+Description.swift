import InwardCore

extension Scope: CustomStringConvertible {
    /// The tree of the scope: its objects with what each of them holds, and the scopes inside it.
    ///
    /// Of the objects it says names and types, and nothing else of their contents.
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
        // A handler says what it does, and in which order.
        let kind = (child.value as? any ErrorHandler)?.description ?? "\(type(of: child.value))"
        return .init(name: label, kind: kind, held: names.held(by: child.value))
    }

    /// Whether it is an object that might be there and is not.
    private func isNothing(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional && mirror.children.isEmpty
    }
}

/// A scope as text: what it is, what it holds, and the scopes inside it.
struct ScopeTree: CustomStringConvertible {
    /// An object of the scope.
    struct Object {
        let name: String
        /// Its type, or what it says of itself; the name of an object of a scope around, if it is that.
        let kind: String
        /// The names of the objects that it holds, of this scope and of those around it.
        let held: [String]
    }

    let title: String
    /// `open`, `closing` or `closed`.
    let phase: String
    let objects: [Object]
    let children: [ScopeTree]

    /// One line for each scope and each object, those inside further to the right.
    var description: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        let inside = objects.map { object in
            let held = object.held.isEmpty ? "" : ", holds \(object.held.joined(separator: ", "))"
            return "\(object.name): \(object.kind)\(held)"
        }
        return ["\(title) (\(phase))"] + (inside + children.flatMap(\.lines)).map { "  \($0)" }
    }
}

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
        for child in Mirror(reflecting: value).children.prefix(Self.maximumChildren) {
            search(child.value, depth: depth + 1, isRoot: false, &seen, &found)
        }
    }

    private static let greatestDepth = 8
    private static let maximumChildren = 32

    /// What tells a reference from others; `nil` for a value.
    private static func identity(of value: Any) -> ObjectIdentifier? {
        type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject) : nil
    }
}
