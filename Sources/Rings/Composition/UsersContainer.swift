public import InterfaceAdapters
public import InwardCore
public import InwardScopes
public import UseCases

/// The feature that shows the users and their posts.
///
/// ```swift
/// let feature = try UsersContainer(in: user, router: PathRouter(root: "/app"))
/// let profile = try await feature.withInteraction { try await $0.showUser(User.ID(7)) }
/// print(profile.user.value.name)
/// ```
public struct UsersContainer: FeatureContainer {
    /// The objects of a users container.
    public struct Objects: Sendable {
        let router: any Router
    }

    /// The scope of the users.
    public let scope: Scope<FeatureLifetime, Objects>
    private let user: UserContainer

    /// Creates the feature in a user's session.
    ///
    /// - Parameters:
    ///   - user: The viewer's session.
    ///   - router: Creates links for the medium that shows the users.
    /// - Throws: A `ScopeError` if the session is closed.
    public init(in user: UserContainer, router: any Router) throws(ScopeError) {
        self.user = user
        scope = try Scope("users", in: user.scope, objects: Objects(router: router))
    }

    /// Opens an interaction that shows all users, or one of them, once.
    ///
    /// - Throws: A `ScopeError` if the container is closed.
    public func makeInteraction(id: InteractionID?, within limit: Duration?) throws(ScopeError) -> UsersInteraction {
        UsersInteraction(
            scope: try user.openInteraction(in: scope, id: id, within: limit),
            router: try scope.objects().router
        )
    }
}

/// An interaction that shows all users, or one of them, once.
///
/// ```swift
/// let list = try await users.withInteraction { interaction in
///     interaction.userListPresenter.present(try await interaction.listUsers())
/// }
/// print(list.rows.count)
/// ```
public struct UsersInteraction: InteractionContainer {
    /// The scope of the interaction.
    public let scope: Scope<InteractionLifetime, Interaction>
    let router: any Router

    /// Lists all users.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var listUsers: ListUsers {
        get throws(ScopeError) { ListUsers(users: try users, order: try scope.objects().userOrder) }
    }

    /// Shows one user with the user's posts.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var showUser: ShowUser {
        get throws(ScopeError) { ShowUser(users: try users, posts: try posts) }
    }

    /// Reads posts page by page, optionally those of one user.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    public var readFeed: ReadFeed {
        get throws(ScopeError) { ReadFeed(posts: try posts, users: try users) }
    }

    /// Presents the list of users.
    public var userListPresenter: UserListPresenter { UserListPresenter(router: router) }

    /// Presents one user.
    public var userProfilePresenter: UserProfilePresenter { UserProfilePresenter(router: router) }

    /// Presents a page of posts.
    public var feedPresenter: FeedPresenter { FeedPresenter(router: router) }
}
