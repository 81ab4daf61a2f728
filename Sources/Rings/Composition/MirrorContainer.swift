import Foundation
import Infrastructure
public import InterfaceAdapters
public import InwardCore
public import InwardScopes
public import UseCases

/// The feature that mirrors the upstream for offline use.
///
/// ```swift
/// let mirror = try MirrorContainer(in: user)
/// let summary = try await mirror.withInteraction(within: .seconds(600)) { try await $0.mirror(into: "mirror") }
/// print(summary.line)
/// ```
public struct MirrorContainer: FeatureContainer {
    /// The objects of a mirror container: none.
    public struct Objects: Sendable {}

    /// The scope of the mirror.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates the feature in a user's session.
    ///
    /// - Throws: A `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("mirror", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that creates one mirror.
    ///
    /// - Throws: A `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> MirrorInteraction {
        MirrorInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            source: user.app.upstreamName
        )
    }
}

/// An interaction that creates one mirror.
///
/// ```swift
/// let mirror = try MirrorContainer(in: user)
/// let summary = try await mirror.withInteraction { interaction in
///     try await interaction.mirror(into: "mirror", limits: MirrorLimits(maximumImageCount: 1_000))
/// }
/// ```
public struct MirrorInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let source: String

    /// Copies what the user can see of the upstream into a directory.
    ///
    /// - Parameters:
    ///   - path: The path of the directory, which does not have to exist.
    ///   - limits: The maximum sizes and numbers of the items to copy.
    ///   - progress: Called after each file with a line that describes the progress.
    /// - Returns: The result to show.
    /// - Throws: The failure to show if no new mirror was created, or a `ScopeError` if the interaction is closed.
    public func mirror(
        into path: String,
        limits: MirrorLimits = MirrorLimits(),
        progress: (String) -> Void = { _ in }
    ) async throws -> MirrorViewModel {
        let mirror = MirrorController(
            createMirror: CreateMirror(
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
