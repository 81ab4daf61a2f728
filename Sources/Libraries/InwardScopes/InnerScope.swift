/// A scope as the one around it sees it.
protocol InnerScope: AnyObject, Sendable {
    /// Begins to close the scope, unless that has begun, and returns the failures once it is closed.
    func startClosing() -> Task<[ScopeCloseError.Failure], Never>

    /// The scope by its lifetime and name.
    var title: String { get }

    /// Describes the scope and what is in it.
    func tree(seenFrom outer: ObjectNames) -> ScopeTree
}

/// A scope as one inside it sees it.
protocol OuterScope: AnyObject, Sendable {
    /// Takes in a scope that has just been made.
    func adopt(_ scope: any InnerScope) throws(ScopeError)

    /// Lets go of a scope that is closed.
    func release(_ scope: any InnerScope)
}
