import Foundation
import Infrastructure
public import InterfaceAdapters
import InwardCore
public import InwardScopes
public import UseCases

/// The making of a mirror of the upstream, for somebody who wants to have it without a network.
public struct MirrorContainer: FeatureContainer {
    /// What a container of the mirror holds: nothing of its own.
    public struct Objects: Sendable {}

    /// The scope of the mirror.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins.
    ///
    /// - Throws: a `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("mirror", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that makes it once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> MirrorInteraction {
        MirrorInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            source: user.app.upstreamName
        )
    }
}

/// One mirror that is made.
public struct MirrorInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let source: String

    /// Makes a mirror of the upstream in a directory, as the user may see it.
    ///
    /// - Parameters:
    ///   - path: The path of the directory, which need not be there.
    ///   - limits: How much the lists and images may have, each and together.
    ///   - progress: Called after each file with a line that says how far it is.
    /// - Returns: what to show.
    /// - Throws: what to show if there is no new mirror, or a `ScopeError` if the interaction is closed.
    public func mirror(
        into path: String,
        limits: MirrorLimits = MirrorLimits(),
        progress: (String) -> Void = { _ in }
    ) async throws -> MirrorViewModel {
        let mirror = MirrorController(
            mirrorUpstream: CreateMirror(
                from: RepositoryMirrorSource(upstream: try upstream, limits: limits),
                in: MirrorDirectory(
                    directory: URL(filePath: path, directoryHint: .isDirectory),
                    listByteLimit: limits.maximumListByteCount
                ),
                limits: limits
            ),
            source: source,
            directory: path,
            stopwatch: try scope.objects().deadline.stopwatch
        )
        return try await mirror(progress: progress)
    }
}
