public import InterfaceAdapters
public import InwardScopes
public import UseCases

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
