public import InterfaceAdapters
public import InwardCore
public import InwardScopes
public import UseCases

/// The feature that reads the feed, and publishes, edits and deletes posts.
///
/// ```swift
/// let feed = try await FeedContainer(in: user)
/// let page = try await feed.withInteraction { try await $0.readFeed(FeedQuery()) }
/// ```
public struct FeedContainer: FeatureContainer {
    /// The objects of a feed container.
    public struct Objects: Sendable {
        let viewModel: OnFirstUse<PostListViewModel>
    }

    /// The scope of the feed.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates a feed in a user's session.
    ///
    /// - Parameters:
    ///   - user: The reader's session.
    ///   - router: Creates links for the medium that shows the feed.
    /// - Throws: A `ScopeError` if the session is closed.
    public init(in user: UserContainer, router: any Router = NullRouter()) async throws(ScopeError) {
        let errorHandler = try user.app.errorHandler
        let scope = try await FeedScope.open("feed", in: user.scope) { opening, scope in
            let feed = FeedContainer(scope: scope, user: user)
            let viewModel = opening.onFirstUse(as: "viewModel") {
                PostListViewModel(presenter: FeedPresenter(router: router)) { query, policy throws(ReadFeedError) in
                    do throws(ReadFeedError) {
                        return try await feed.readFeed(query, policy)
                    } catch {
                        // The view model only shows the failure, so it is also reported.
                        if error != .cancelled { errorHandler.handle(error) }
                        throw error
                    }
                }
            } closing: {
                await $0.close()
            }
            return Objects(viewModel: viewModel)
        }
        self.init(scope: scope, user: user)
    }

    private typealias FeedScope = Scope<FeatureLifetime, Objects>

    private init(scope: Scope<FeatureLifetime, Objects>, user: UserContainer) {
        self.scope = scope
        self.user = user
    }

    /// The observable list of posts.
    ///
    /// - Throws: A `ScopeError` if the feed is closed.
    public var viewModel: PostListViewModel {
        get throws(ScopeError) { try scope.objects().viewModel.object() }
    }

    /// Opens an interaction that reads the feed once, or publishes, edits or deletes one post.
    ///
    /// - Throws: A `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> FeedInteraction {
        FeedInteraction(scope: try user.openInteraction(in: scope, id: id, within: limit))
    }

    /// Reads the feed in a new interaction.
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
    /// Publishes a post, given as one line of JSON, in a new interaction.
    ///
    /// ```swift
    /// let line = #"{"userId": 7, "title": "Notes", "body": "On the engine."}"#
    /// let post = try await feed.publish(line: Array(line.utf8))
    /// ```
    ///
    /// If the session has an outbox, the post is accepted when this method returns. It then survives a killed process or a
    /// power loss, as far as the app's store guarantees that.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line; `nil` if it exceeds the maximum line length.
    ///   - limit: The time limit; `nil` for the configured limit.
    /// - Returns: The post to show, marked as pending if it is accepted but not published yet.
    /// - Throws: The failure to show if the post was not published, or if the outcome is unknown.
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

/// An interaction that reads the feed once, or publishes, edits or deletes one post.
///
/// ```swift
/// let post = try await feed.withInteraction { interaction in
///     try await interaction.publishPost(title: "Notes", body: "On the engine.", by: User.ID(7))
/// }
/// print(post.isPending ? "Accepted" : "Published")
/// ```
public struct FeedInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>

    /// Reads the feed.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var readFeed: ReadFeed {
        get throws(ScopeError) { ReadFeed(posts: try posts, users: try users) }
    }

    /// Shows a post.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var showPost: ShowPost {
        get throws(ScopeError) { ShowPost(posts: try posts) }
    }

    /// Publishes a post.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var publishPost: PublishPost {
        get throws(ScopeError) {
            PublishPost(posts: try posts, users: try users, titlesUnderWay: try scope.objects().titlesUnderWay)
        }
    }

    /// Edits a post.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var editPost: EditPost {
        get throws(ScopeError) { EditPost(posts: try posts, titlesUnderWay: try scope.objects().titlesUnderWay) }
    }

    /// Deletes a post.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var deletePost: DeletePost {
        get throws(ScopeError) { DeletePost(posts: try posts) }
    }

    /// Changes an author's website and publishes a post about it; `nil` if the session has no outbox, which is needed to accept
    /// both together.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var announceWebsite: AnnounceWebsite? {
        get throws(ScopeError) {
            let interaction = try scope.objects()
            guard interaction.unitOfWork != nil else { return nil }
            return AnnounceWebsite(
                posts: try posts,
                users: try users,
                titlesUnderWay: interaction.titlesUnderWay,
                unitOfWork: ScopedUnitOfWork(scope: scope)
            )
        }
    }

    /// Publishes a post from a line of JSON, with a website if the line names one, and presents the result.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var publishLine: PostLineController {
        get throws(ScopeError) {
            PostLineController(publishPost: try publishPost, announceWebsite: try announceWebsite)
        }
    }
}
