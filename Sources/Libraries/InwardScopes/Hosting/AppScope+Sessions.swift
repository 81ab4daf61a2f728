public import InwardRepositories

extension AppScope {
    /// Opens a registry whose sessions have objects of your own.
    ///
    /// ```swift
    /// struct CommentBoard: Sendable {
    ///     let comments: Repository<Comment>
    /// }
    ///
    /// let sessions = try await app.sessionRegistry { user, opening, repositories in
    ///     CommentBoard(comments: try repositories.repository(commentsEndpoint))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - limits: The limits on the number of sessions, on their idle time and on their memory.
    ///   - make: Creates your objects for a user's session, and registers those that need closing. See
    ///     ``signIn(as:credentials:pendingWrites:memory:making:)``.
    /// - Returns: The registry. Closing the app closes it.
    /// - Throws: A ``ScopeError`` if the app is closed or shutting down.
    public func sessionRegistry<SessionOwn: Sendable>(
        _ limits: SessionLimits = SessionLimits(),
        making make:
            @escaping @Sendable (
                _ user: String, inout ScopeOpening, RepositorySet
            ) async throws -> SessionOwn
    ) async throws(ScopeError) -> SessionRegistry<SessionOwn> {
        let objects = try scope.objects()
        return try await SessionRegistryScope<SessionOwn>.open("sessions", in: scope) {
            opening,
            registryScope throws(ScopeError) in
            opening.errorHandler = objects.configuration.errorHandler
            let registry = SessionRegistry(limits, in: registryScope, of: objects) {
                scope.isAcceptingWork
            } signIn: { user, credentials in
                try await signIn(as: user, credentials: credentials, memory: limits.memory) { opening, repositories in
                    try await make(user, &opening, repositories)
                }
            }
            return SessionRegistryObjects(registry: opening.closing(registry, as: "sessions") { await $0.closeAll() })
        }.objects().registry
    }

    /// Opens a registry whose sessions have no objects of your own.
    ///
    /// - Parameter limits: The limits on the number of sessions, on their idle time and on their memory.
    /// - Returns: The registry. Closing the app closes it.
    /// - Throws: A ``ScopeError`` if the app is closed or shutting down.
    public func sessionRegistry(
        _ limits: SessionLimits = SessionLimits()
    ) async throws(ScopeError) -> SessionRegistry<Void> {
        try await sessionRegistry(limits) { _, _, _ in }
    }
}

/// The lifetime of a session registry.
enum SessionRegistryLifetime: InnerLifetime {
    typealias Outer = AppLifetime
    static let name = "registry"
}

/// The objects of a registry's scope.
struct SessionRegistryObjects<Own: Sendable>: Sendable {
    let registry: SessionRegistry<Own>
}

typealias SessionRegistryScope<Own: Sendable> = Scope<SessionRegistryLifetime, SessionRegistryObjects<Own>>
