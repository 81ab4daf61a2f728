public import InterfaceAdapters
public import InwardScopes
public import UseCases

/// One look at the users, or at one of them.
public struct UsersInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let router: any Router

    /// Lists all users.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var listUsers: ListUsers {
        get throws(ScopeError) { ListUsers(users: try users) }
    }

    /// Shows one user with the user's posts.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var showUser: ShowUser {
        get throws(ScopeError) { ShowUser(users: try users, posts: try posts) }
    }

    /// Reads what one user has written, page by page.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
    public var readFeed: ReadFeed {
        get throws(ScopeError) { ReadFeed(posts: try posts, users: try users) }
    }

    /// Makes the users ready to be seen.
    public var userListPresenter: UserListPresenter { UserListPresenter(router: router) }

    /// Makes one user ready to be seen.
    public var userProfilePresenter: UserProfilePresenter { UserProfilePresenter(router: router) }

    /// Makes a page of posts ready to be seen.
    public var feedPresenter: FeedPresenter { FeedPresenter(router: router) }
}
