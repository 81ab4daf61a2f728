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
