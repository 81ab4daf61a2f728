public import InterfaceAdapters
import InwardCore
public import InwardScopes
public import UseCases

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
    ///   - user: The reader's session.
    ///   - router: What makes links for the medium it is read in.
    /// - Throws: a `ScopeError` if the session is closed.
    public init(in user: UserContainer, router: any Router = NullRouter()) async throws(ScopeError) {
        let errorHandler = try user.app.errorHandler
        let scope = try await FeedScope.open("feed", in: user.scope) { opening, scope in
            let feed = FeedContainer(scope: scope, user: user)
            let viewModel = PostListViewModel(presenter: FeedPresenter(router: router)) {
                query,
                policy throws(ReadFeedError) in
                do throws(ReadFeedError) {
                    return try await feed.readFeed(query, policy)
                } catch {
                    // Nothing else records it: the view model shows it once.
                    if error != .cancelled { errorHandler.handle(error) }
                    throw error
                }
            }
            return Objects(viewModel: opening.closing(viewModel, as: "viewModel") { await $0.close() })
        }
        self.init(scope: scope, user: user)
    }

    private typealias FeedScope = Scope<FeatureLifetime, Objects>

    private init(scope: Scope<FeatureLifetime, Objects>, user: UserContainer) {
        self.scope = scope
        self.user = user
    }

    /// The list of posts to be seen, which changes as it is told to.
    ///
    /// - Throws: a `ScopeError` if the feed is closed.
    public var viewModel: PostListViewModel {
        get throws(ScopeError) { try scope.objects().viewModel }
    }

    /// Opens an interaction that looks at the feed once, or adds to it.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> FeedInteraction {
        FeedInteraction(scope: try user.openInteraction(in: scope, id: id, within: limit))
    }

    /// Reads the feed in an interaction of its own.
    private func readFeed(_ query: FeedQuery, _ policy: ReadPolicy) async throws(ReadFeedError) -> FeedPage {
        await user.refreshPendingWrites()
        do {
            return try await withInteraction { try await $0.readFeed(query, policy) }
        } catch let error as ReadFeedError {
            throw error
        } catch let error as DeadlinePassedError {
            throw ReadFeedError(late: error)
        } catch {
            throw ReadFeedError(closed: error)
        }
    }
}

extension FeedContainer {
    /// Publishes a post that is written in a line of JSON, in an interaction of its own.
    ///
    /// Where the session has an outbox the post is accepted when this returns: neither a killed process nor a loss of power undoes
    /// that, as far as the app's store says so.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line; `nil` if it is longer than a line may be.
    ///   - limit: How much time there is for it; `nil` for as much as the configuration says.
    /// - Returns: what to show of the post; that it is pending if it is accepted, and not published yet.
    /// - Throws: what to show if it was not published, or is not known to be.
    public func publish(
        line: [UInt8]?,
        within limit: Duration? = nil
    ) async throws(FailureViewModel) -> PublishedPostViewModel {
        do {
            return try await withInteraction(within: limit) { try await $0.publishLine(line) }
        } catch let failure as FailureViewModel {
            throw failure
        } catch let error as DeadlinePassedError {
            throw PublishedPostPresenter().present(late: error)
        } catch {
            throw PublishedPostPresenter().present(notStarted: error)
        }
    }
}

/// One look at the feed, or one post for it.
public struct FeedInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>

    /// Reads the feed.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var readFeed: ReadFeed {
        get throws(ScopeError) { ReadFeed(posts: try posts, users: try users) }
    }

    /// Publishes a post.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var publishPost: PublishPost {
        get throws(ScopeError) {
            PublishPost(posts: try posts, users: try users, titlesUnderWay: try scope.objects().titlesUnderWay)
        }
    }

    /// Publishes a post that is written in a line, and has it presented.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var publishLine: PostLineController {
        get throws(ScopeError) { PostLineController(publishPost: try publishPost) }
    }
}
