import Entities
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import NIOCore
import UseCases

/// The routes of the JSON API.
struct FeedAPI {
    let app: FeedApp
    let settings: ServiceSettings
    let answers: AnswerCache

    func addRoutes(to router: RouterGroup<FeedRequestContext>) {
        router.get("users") { request, context in
            try await answer(request, context) { reader in
                let users = try await reader.listUsers()
                return (UsersBody(users: users.value.map(UserBody.init)), users.freshness)
            }
        }
        router.get("users/:id") { request, context in
            let id = try Self.id(context)
            return try await answer(request, context) { reader in
                let user = try await reader.showUser(id).user
                return (UserBody(user.value), user.freshness)
            }
        }
        router.get("users/:id/posts") { request, context in
            let id = try Self.id(context)
            return try await answer(request, context) { reader in
                let posts = try await reader.showUser(id).posts.get()
                return (PostsBody(posts: posts.value.map(PostBody.init)), posts.freshness)
            }
        }
        router.get("feed") { request, context in
            let query = try FeedQuery(QueryParameters(request.uri.query))
            return try await answer(request, context) { reader in
                let page = try await reader.readFeed(query)
                return (FeedBody(page), page.freshness)
            }
        }
        PostAPI(app: app, settings: settings).addRoutes(to: router)
        CommentAPI(app: app, settings: settings).addRoutes(to: router)
        SessionAPI(app: app).addRoutes(to: router)
        router.get("openapi.json") { request, _ in
            Self.description.response(to: request, cacheControl: Answer.fileCacheControl)
        }
    }

    /// The description of the API.
    private static let description = Answer(
        file: PackageResources.openapi_json,
        as: "application/json; charset=utf-8"
    )

    /// Returns the response to a read.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its sender.
    ///   - read: Reads what to show.
    /// - Returns: The response.
    /// - Throws: The error of `read`; an `EncodingError`, if JSON cannot represent a number in the body.
    private func answer(
        _ request: Request,
        _ context: FeedRequestContext,
        reading read: @escaping @Sendable (Reader) async throws -> (some Encodable & Equatable & Sendable, Freshness)
    ) async throws -> Response {
        try await answers.response(to: request, at: request.uri.string, of: context.visitor) {
            try await app.withReader(for: context.visitor, read)
        } encoding: {
            try Answer(json: $0)
        }
    }

    private static func id(_ context: FeedRequestContext) throws -> User.ID {
        guard let text = context.parameters.get("id"), let id = User.ID(text), id.description == text else {
            throw ProblemDetails(.notFound, detail: "A user ID is a number.")
        }
        return id
    }
}

extension FeedQuery {
    /// Reads the parameters `author`, `q`, `cursor` and `size`.
    ///
    /// - Throws: A `ProblemDetails` with the status 400 that names the first parameter with an invalid value.
    fileprivate init(_ parameters: QueryParameters) throws(ProblemDetails) {
        self.init()
        author = try parameters.value("author", as: "the number of a user") { User.ID($0 as String) }
        // A character can have any number of marks, and comparing it takes as long. Text in a stream has at most 30 (Unicode
        // Standard Annex #15).
        text = try parameters.value("q", as: "a text of at most 200 characters") { text in
            text.unicodeScalars.count <= 200 && text.allSatisfy { $0.unicodeScalars.count <= 31 } ? text : nil
        }
        cursor = try parameters.value("cursor", as: "the value of “next” on another page") { FeedCursor($0) }
        pageSize = try parameters.value("size", as: "a number") { Int($0) } ?? pageSize
    }
}
