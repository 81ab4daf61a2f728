public import InterfaceAdapters
import UseCases

/// The feed, for somebody who is reading it.
public struct FeedContainer: FeatureContainer {
    /// What a container of the feed holds.
    public struct Objects: Sendable {
        let viewModel: PostListViewModel
    }

    /// The scope of the feed.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins to read the feed.
    ///
    /// - Parameters:
    ///   - user: The session of who reads it.
    ///   - router: What makes links for the medium it is read in.
    /// - Throws: a ``ScopeError`` if the session is closed.
    public init(in user: UserContainer, router: any Router = NoLinks()) async throws(ScopeError) {
        let errorHandler = try user.app.errorHandler
        let presenter = FeedPresenter(router: router)
        self.user = user
        scope = try await Scope.open("feed", in: user.scope) { opening, scope in
            let viewModel = PostListViewModel(presenter: presenter) { query, policy throws(ReadFeedError) in
                do throws(ReadFeedError) {
                    return try await user.readFeed(query, policy, in: scope)
                } catch {
                    // Nobody is told of it but whoever happens to look.
                    if error != .cancelled { errorHandler.handle(presenter.present(error)) }
                    throw error
                }
            }
            return Objects(viewModel: opening.closing(viewModel, as: "viewModel") { await $0.close() })
        }
    }

    /// The list of posts to be seen, which changes as it is told to.
    ///
    /// - Throws: a ``ScopeError`` if the feed is closed.
    public var viewModel: PostListViewModel {
        get throws(ScopeError) { try scope.objects().viewModel }
    }

    /// Opens an interaction that looks at the feed once, or adds to it.
    ///
    /// - Throws: a ``ScopeError`` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> FeedInteraction {
        FeedInteraction(scope: try user.openInteraction(in: scope, id: id, within: limit))
    }
}

extension UserContainer {
    /// Reads the feed in an interaction of its own.
    fileprivate func readFeed(
        _ query: FeedQuery,
        _ policy: ReadPolicy,
        in feature: Scope<FeatureLifetime, FeedContainer.Objects>
    ) async throws(ReadFeedError) -> FeedPage {
        let interaction: FeedInteraction
        let readFeed: ReadFeed
        do {
            interaction = FeedInteraction(scope: try openInteraction(in: feature, id: nil, within: nil))
            readFeed = try interaction.readFeed
        } catch {
            throw .unavailable(
                RepositoryError(.closed, request: "The feed", explanation: "was not asked for: \(error)")
            )
        }
        let result = await Result(awaiting: { () async throws(ReadFeedError) in try await readFeed(query, policy) })
        // Nothing of it is left to go wrong: its work has ended.
        try? await interaction.close()
        return try result.get()
    }
}
