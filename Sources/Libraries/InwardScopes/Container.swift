/// Wires the objects of one scope: it holds what is shared and makes what is fresh.
///
/// A container is a value around its scope; copies are of the same scope.
public protocol Container: Sendable, CustomStringConvertible {
    /// How long its objects live.
    associatedtype Level: Lifetime
    /// What it holds, a stored property for each shared object.
    associatedtype Objects: Sendable

    /// The scope that holds the objects, and ends them.
    var scope: Scope<Level, Objects> { get }
}

extension Container {
    /// Whether the container can be used: it is neither closed nor being closed.
    public var isOpen: Bool { scope.isOpen }

    /// Closes all that was made from this container, and then what it holds; see ``Scope/close()``.
    ///
    /// - Throws: a ``ScopeCloseError`` with all that went wrong. The container is closed all the same.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    /// The tree of the container: its objects with what each of them holds, and the containers made from it.
    public var description: String { scope.description }
}

/// How long the objects of a scope live. The lifetimes lie inside one another, and the compiler knows which in which.
public protocol Lifetime: Sendable {
    /// What a scope of this lifetime is called.
    static var name: String { get }
}

/// A lifetime that lies inside another.
public protocol InnerLifetime: Lifetime {
    /// The lifetime that it lies in.
    associatedtype Outer: Lifetime
}

/// A lifetime that lies in no other.
public protocol OutermostLifetime: Lifetime {}
