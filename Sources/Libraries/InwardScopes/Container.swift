/// A value that wraps a scope, and gives access to the scope's objects. Copies share the scope.
///
/// ```swift
/// struct UserContainer: Container {
///     struct Objects: Sendable { let comments: Repository<Comment> }
///     let scope: Scope<SessionLifetime, Objects>
///
///     var comments: Repository<Comment> {
///         get throws(ScopeError) { try scope.objects().comments }
///     }
/// }
/// ```
public protocol Container: Sendable, CustomStringConvertible {
    /// The lifetime of its objects.
    associatedtype Level: Lifetime
    /// The shared objects, each in a stored property.
    associatedtype Objects: Sendable

    /// The scope that owns the objects.
    var scope: Scope<Level, Objects> { get }
}

extension Container {
    /// Whether you can use the container: it is neither closed nor closing.
    public var isOpen: Bool { scope.isOpen }

    /// Closes the containers inside this one, and then its own objects. See ``Scope/close()``.
    ///
    /// - Throws: A ``ScopeCloseError`` with all failures. The container is closed nevertheless.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    /// The tree of the container: its objects with their references, and the scopes inside it.
    public var description: String { scope.description }
}

/// The lifetime of the objects in a scope. Lifetimes are nested, and the compiler checks the nesting.
///
/// ```swift
/// enum RequestLifetime: InnerLifetime {
///     typealias Outer = SessionLifetime
///     static let name = "request"
/// }
/// ```
public protocol Lifetime: Sendable {
    /// The name of the lifetime in titles and descriptions.
    static var name: String { get }
}

/// A lifetime nested in another.
///
/// ```swift
/// enum RequestLifetime: InnerLifetime {
///     typealias Outer = SessionLifetime
///     static let name = "request"
/// }
/// ```
public protocol InnerLifetime: Lifetime {
    /// The enclosing lifetime.
    associatedtype Outer: Lifetime
}

/// A lifetime that is not nested in another.
///
/// ```swift
/// enum ToolLifetime: OutermostLifetime {
///     static let name = "tool"
/// }
/// ```
public protocol OutermostLifetime: Lifetime {}
