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
