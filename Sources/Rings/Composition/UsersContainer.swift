public import InterfaceAdapters
public import InwardScopes
public import UseCases

/// The users, and what each of them has written, for somebody who is looking at them.
public struct UsersContainer: FeatureContainer {
    /// What a container of the users holds.
    public struct Objects: Sendable {
        let router: any Router
    }

    /// The scope of the users.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Begins to look at users.
    ///
    /// - Parameters:
    ///   - user: The session of who looks at them.
    ///   - router: What makes links for the medium they are looked at in.
    /// - Throws: a `ScopeError` if the session is closed.
    public init(in user: UserContainer, router: any Router) throws(ScopeError) {
        self.user = user
        scope = try Scope("users", in: user.scope, objects: Objects(router: router))
    }

    /// Opens an interaction that looks at the users, or one of them, once.
    ///
    /// - Throws: a `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> UsersInteraction {
        UsersInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            router: try scope.objects().router
        )
    }
}

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
