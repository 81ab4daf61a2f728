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
