public import InterfaceAdapters
public import InwardCore
public import InwardScopes
import UseCases

/// The feature that shows an overview of the upstream's users and posts.
///
/// ```swift
/// let overview = try OverviewContainer(in: user)
/// let viewModel = try await overview.withInteraction { try await $0.overview() }
/// print(viewModel.provenance)
/// ```
public struct OverviewContainer: FeatureContainer {
    /// The objects of an overview container: none.
    public struct Objects: Sendable {}

    /// The scope of the overview.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates the feature in a user's session.
    ///
    /// - Throws: A `ScopeError` if the user's session is closed.
    public init(in user: UserContainer) throws(ScopeError) {
        self.user = user
        scope = try Scope("overview", in: user.scope, objects: Objects())
    }

    /// Opens an interaction that shows the overview once.
    ///
    /// - Throws: A `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> OverviewInteraction {
        OverviewInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            source: user.app.upstreamName
        )
    }
}

/// An interaction that shows the overview once.
///
/// ```swift
/// let overview = try OverviewContainer(in: user)
/// let viewModel = try await overview.withInteraction(within: .seconds(5)) { interaction in
///     try await interaction.overview()
/// }
/// ```
public struct OverviewInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let source: String

    /// Loads and presents the overview.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var overview: OverviewController {
        get throws(ScopeError) {
            OverviewController(
                listUsers: ListUsers(users: try users, order: try scope.objects().userOrder),
                readFeed: ReadFeed(posts: try posts, users: try users),
                source: source,
                stopwatch: try scope.objects().deadline.stopwatch
            )
        }
    }
}
