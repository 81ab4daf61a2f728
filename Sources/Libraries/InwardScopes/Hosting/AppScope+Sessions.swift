public import InwardRepositories

extension AppScope {
    /// Opens a registry of sessions with objects of the service's own.
    ///
    ///     let sessions = try await app.sessionRegistry { user, opening, repositories in
    ///         SessionObjects(comments: CommentBoard(try repositories.repository(.comments)))
    ///     }
    ///
    /// - Parameters:
    ///   - limits: How many sessions are open, for how long, and how much memory they may use.
    ///   - make: Creates the objects of the service for a user's session, and registers those that need closing. See
    ///     ``signIn(as:credentials:pendingWrites:memory:making:)``.
    /// - Returns: the registry. Closing the app closes it.
    /// - Throws: a ``ScopeError`` if the app is closed.
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

    /// Opens a registry of sessions without objects of the service's own.
    ///
    /// - Parameter limits: How many sessions are open, for how long, and how much memory they may use.
    /// - Returns: the registry. Closing the app closes it.
    /// - Throws: a ``ScopeError`` if the app is closed.
    public func sessionRegistry(
        _ limits: SessionLimits = SessionLimits()
    ) async throws(ScopeError) -> SessionRegistry<Void> {
        try await sessionRegistry(limits) { _, _, _ in }
    }
}

/// The lifetime of a registry of sessions.
enum SessionRegistryLifetime: InnerLifetime {
    typealias Outer = AppLifetime
    static let name = "registry"
}

/// The registry as the object of its scope.
struct SessionRegistryObjects<Own: Sendable>: Sendable {
    let registry: SessionRegistry<Own>
}

typealias SessionRegistryScope<Own: Sendable> = Scope<SessionRegistryLifetime, SessionRegistryObjects<Own>>
