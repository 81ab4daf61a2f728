import Entities
import UseCases

// What the API shows of users and posts. The names of the members are part of the interface, and independent of the names in
// the entities.

/// A user.
struct UserBody: Encodable, Equatable, Sendable {
    struct Address: Encodable, Equatable, Sendable {
        let street, suite, city, zipcode: String
        let latitude, longitude: Double
    }

    struct Company: Encodable, Equatable, Sendable {
        let name, catchPhrase, business: String
    }

    let id: Int
    let name, username, email, phone, website: String
    let address: Address
    let company: Company

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        username = user.username
        email = user.email.description
        phone = user.phone
        website = user.website
        address = Address(
            street: user.address.street,
            suite: user.address.suite,
            city: user.address.city,
            zipcode: user.address.zipcode,
            latitude: user.address.location.latitude,
            longitude: user.address.location.longitude
        )
        company = Company(
            name: user.company.name,
            catchPhrase: user.company.catchPhrase,
            business: user.company.business
        )
    }
}

/// All users.
struct UsersBody: Encodable, Equatable, Sendable {
    let users: [UserBody]
}

/// A post.
struct PostBody: Encodable, Equatable, Sendable {
    let id, authorID: Int
    let title, body: String

    init(_ post: Post) {
        id = post.id.rawValue
        authorID = post.authorID.rawValue
        title = post.title
        body = post.body
    }
}

/// A deletion that the upstream does not have yet.
struct DeletionBody: Encodable, Equatable, Sendable {
    let id: Int
    let state = "pending"
}

/// The posts of a user.
struct PostsBody: Encodable, Equatable, Sendable {
    let posts: [PostBody]
}

/// A page of the feed.
struct FeedBody: Encodable, Equatable, Sendable {
    struct Entry: Encodable, Equatable, Sendable {
        let id: Int
        let title, body: String
        let author: Author
    }

    /// The author of a post, without a name if it is not known.
    struct Author: Encodable, Equatable, Sendable {
        let id: Int
        let name: String?
    }

    let posts: [Entry]
    let total: Int
    /// The cursor of the next page; `nil` on the last one.
    let next: String?

    init(_ page: FeedPage) {
        posts = page.entries.map { entry in
            Entry(
                id: entry.post.id.rawValue,
                title: entry.post.title,
                body: entry.post.body,
                author: Author(entry)
            )
        }
        total = page.total
        next = page.next?.description
    }
}

extension FeedBody.Author {
    fileprivate init(_ entry: FeedEntry) {
        id = entry.post.authorID.rawValue
        name = if case .known(let user) = entry.author { user.name } else { nil }
    }
}
