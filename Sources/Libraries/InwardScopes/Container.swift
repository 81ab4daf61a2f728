/// Wires the objects of one scope: it holds shared objects and creates new ones.
///
/// A container is a value that wraps a scope. Copies share the scope.
///
///     struct AppContainer: Container {
///         struct Objects: Sendable { let cache: Cache }
///         let scope: Scope<AppLifetime, Objects>
///
///         var cache: Cache {
///             get throws(ScopeError) { try scope.objects().cache }
///         }
///     }
public protocol Container: Sendable, CustomStringConvertible {
    /// The lifetime of its objects.
    associatedtype Level: Lifetime
    /// The shared objects, each in a stored property.
    associatedtype Objects: Sendable

    /// The scope that owns the objects.
    var scope: Scope<Level, Objects> { get }
}

extension Container {
    /// Whether the container can be used, that is, it is neither closed nor closing.
    public var isOpen: Bool { scope.isOpen }

    /// Closes all containers created from this one, and then its own objects. See ``Scope/close()``.
    ///
    /// - Throws: a ``ScopeCloseError`` with all failures. The container is closed nevertheless.
    public func close() async throws(ScopeCloseError) {
        try await scope.close()
    }

    /// The tree of the container: its objects with their references, and the containers created from it.
    public var description: String { scope.description }
}

/// The lifetime of the objects in a scope. Lifetimes are nested, and the compiler checks the nesting.
///
///     enum AppLifetime: OutermostLifetime { static let name = "app" }
///
///     enum UserLifetime: InnerLifetime {
///         typealias Outer = AppLifetime
///         static let name = "user"
///     }
public protocol Lifetime: Sendable {
    /// The name of the lifetime in titles and descriptions.
    static var name: String { get }
}

/// A lifetime nested in another.
public protocol InnerLifetime: Lifetime {
    /// The enclosing lifetime.
    associatedtype Outer: Lifetime
}

/// A lifetime that is not nested in another.
public protocol OutermostLifetime: Lifetime {}
